/** Makes ids: UUIDv7 in production, counted ones in simulations. Made in the app, so that a retried write writes the same row. */
export type NextId = () => string;
