import { WorkflowError } from './workflow.error.js';

export interface NoRecipientsParams {
  /** Key of the escalation: `sign#1`. */
  escalation: string;
}

export interface RoundNotOpenedParams {
  /** Key of the escalation: `sign#1`. */
  escalation: string;
  /** Id of the approval. */
  node: string;
}

/** There is no round yet to which an escalation could add people. Tried again by itself. */
export class RoundNotOpenedError extends WorkflowError<RoundNotOpenedParams> {
  declare readonly code: 'ROUND_NOT_OPENED';

  constructor(params: RoundNotOpenedParams) {
    super('ROUND_NOT_OPENED', params);
  }
}

/** An escalation was to tell or to ask people, and there is nobody. */
export class NoRecipientsError extends WorkflowError<NoRecipientsParams> {
  declare readonly code: 'NO_RECIPIENTS';

  constructor(params: NoRecipientsParams) {
    super('NO_RECIPIENTS', params);
  }
}
