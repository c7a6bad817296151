import { WorkflowError } from './workflow.error.js';

export interface NoRecipientsParams {
  /** Key of the escalation: `sign#1`. */
  escalation: string;
}

/** An escalation was to tell people, and there is nobody. */
export class NoRecipientsError extends WorkflowError<NoRecipientsParams> {
  declare readonly code: 'NO_RECIPIENTS';

  constructor(params: NoRecipientsParams) {
    super('NO_RECIPIENTS', params);
  }
}
