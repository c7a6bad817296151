import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import type { Scope } from '@nestjs/common';

/**
 * Marks a class as a provider, as `@Injectable` does, without forgetting what an `@Injectable` below already said: Nest's
 * decorator overwrites the scope with nothing when it is given none.
 */
export function makeInjectable(target: Function, scope: Scope | undefined): void {
  if (scope !== undefined) {
    Injectable({ scope })(target);
    return;
  }
  const before = Reflect.getOwnMetadataKeys(target).map((key: unknown) => [key, Reflect.getOwnMetadata(key, target)]);
  Injectable()(target);
  for (const [key, value] of before) Reflect.defineMetadata(key, value, target);
}
