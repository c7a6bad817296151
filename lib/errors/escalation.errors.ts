import { WorkflowError } from './workflow.error.js';

export interface NoRecipientsParams {
  /** Key of the escalation: `sign#1`. */
  escalation: string;
}

export interface ActionUnavailableParams {
  /** Key of the escalation: `sign#1`. */
  escalation: string;
  action: string;
}

/** The action is a part of the format, and nothing does it yet. */
export class ActionUnavailableError extends WorkflowError<ActionUnavailableParams> {
  declare readonly code: 'ACTION_UNAVAILABLE';

  constructor(params: ActionUnavailableParams) {
    super('ACTION_UNAVAILABLE', params);
  }
}

/** An escalation was to tell people, and there is nobody. */
export class NoRecipientsError extends WorkflowError<NoRecipientsParams> {
  declare readonly code: 'NO_RECIPIENTS';

  constructor(params: NoRecipientsParams) {
    super('NO_RECIPIENTS', params);
  }
}
