import { z } from 'zod';

/** What billing needs to know, and nothing else of the customer. */
export const billingInputSchema = z.object({
  name: z.string(),
  email: z.email(),
  plan: z.enum(['team', 'studio']),
  card: z.string(),
});

/** What billing yields. */
export const subscriptionSchema = z.object({
  accountId: z.string(),
  paymentId: z.string(),
  amountCents: z.number().int(),
});

export const PRICE_CENTS: Readonly<Record<z.output<typeof billingInputSchema>['plan'], number>> = {
  team: 4_900,
  studio: 14_900,
};
