import { z } from 'zod';

/** Who is onboarded: what a run starts with. */
export const customerSchema = z.object({
  name: z.string().min(1).meta({ example: 'Ada' }),
  email: z.email().meta({ example: 'ada@example.com' }),
  plan: z.enum(['team', 'studio']),
});

export type Customer = z.output<typeof customerSchema>;

/** What a customer tells when they complete their profile: the payload of the event. */
export const profileSchema = z.object({
  company: z.string().min(1).meta({ example: 'Analytical Engines' }),
  card: z.string().min(1).meta({ description: 'A token of the payment provider', example: 'card-ok' }),
});

export type Profile = z.output<typeof profileSchema>;

/** What a person decides about a customer: the payload of the signal. */
export const decisionSchema = z.object({
  approved: z.boolean(),
  by: z.string().min(1).meta({ example: 'Grace' }),
  reason: z.string().optional(),
});

export type Decision = z.output<typeof decisionSchema>;

export const SIGN_OFF = 'sign-off';

/** Key of the event that ends one onboarding's wait for its profile. */
export function profileCompleted(runId: string): string {
  return `profile.completed:${runId}`;
}
