/** What an approval gives to the nodes after it. */
export interface ApprovalOutput {
  readonly outcome: string;
  /** Id of the round, where all of it can be read. */
  readonly round: string;
  readonly decisions: readonly {
    readonly by: string;
    /** Whom it was decided for, where it was handed over. */
    readonly onBehalfOf: string | null;
    readonly stage: number;
    readonly answer: 'approved' | 'rejected';
    readonly reason?: string | null;
    readonly at: string;
  }[];
  /** Who closed it from outside. */
  readonly closedBy: string | null;
  readonly reason: string | null;
}
