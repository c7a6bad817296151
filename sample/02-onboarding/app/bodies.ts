import { z } from 'zod';
import { decisionSchema, profileSchema } from '../customers/customer.js';

/** The sender's own id of a message: the same again changes nothing. */
const messageId = z.string().min(1).optional();

export const profileBody = profileSchema.extend({ messageId });
export type ProfileBody = z.output<typeof profileBody>;

export const decisionBody = decisionSchema.extend({ messageId });
export type DecisionBody = z.output<typeof decisionBody>;

export const cancelBody = z.object({ reason: z.string().min(1).default('cancelled over HTTP') });
export type CancelBody = z.output<typeof cancelBody>;
