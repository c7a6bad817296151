import { WorkflowError } from './workflow.error.js';

/** What `last_error` of an attempt begins with when its worker stopped extending the lease (LEASE-3). */
export const LEASE_HEARTBEAT_LOST = 'LEASE_HEARTBEAT_LOST';

export interface LeaseExpiredParams {
  stage: string;
  /** The incarnation of the process that held the lease. */
  worker: string;
  /** Losses of this stage run so far, this one included. */
  losses?: number;
  maxLosses?: number;
}

/** A worker stopped extending its lease. Not retryable once the losses reach `maxLosses`. */
export class LeaseExpiredError extends WorkflowError<LeaseExpiredParams> {
  declare readonly code: 'LEASE_EXPIRED';

  constructor(params: LeaseExpiredParams) {
    const { losses = 0, maxLosses = Infinity } = params;
    super('LEASE_EXPIRED', params, { retryable: losses < maxLosses });
  }
}

export interface LeaseAbsoluteCapParams {
  stage: string;
  worker: string;
  /** As a person reads it: '1 h'. */
  cap: string;
}

/** A job ran past the absolute cap, which no heartbeat extends (LEASE-4). */
export class LeaseAbsoluteCapError extends WorkflowError<LeaseAbsoluteCapParams> {
  declare readonly code: 'LEASE_ABSOLUTE_CAP';

  constructor(params: LeaseAbsoluteCapParams) {
    super('LEASE_ABSOLUTE_CAP', params);
  }
}
