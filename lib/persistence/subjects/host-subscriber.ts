import type { DataSource, EntitySubscriberInterface } from 'typeorm';

/** Has a subscriber told of what the host writes through this DataSource, from now on. Returns what ends it. */
export function subscribe(host: DataSource, subscriber: EntitySubscriberInterface): () => void {
  const subscribers = host.subscribers as EntitySubscriberInterface[];
  subscribers.push(subscriber);
  return () => {
    const at = subscribers.indexOf(subscriber);
    if (at >= 0) subscribers.splice(at, 1);
  };
}
