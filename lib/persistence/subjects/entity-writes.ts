import type { EntityManager } from 'typeorm';
import {
  FieldNotWritableError,
  InvalidOptionsError,
  OwnerMismatchError,
  SubjectMissingError,
} from '../../errors/index.js';
import { isJson, type EntityLifecycle } from './entity-lifecycle.js';
import type { EntitySubject } from './entity-subject.js';

/** Who changes an entity, and which. */
export interface EntityChange {
  readonly subject: { readonly type: string; readonly id: string };
  readonly ownerId: string | null;
  readonly actor: unknown;
  readonly runId: string;
}

export type EntityTransitionAnswer =
  | { readonly result: 'applied'; readonly from: string }
  | { readonly result: 'already-there' }
  | { readonly result: 'denied'; readonly reason: string };

/**
 * Moves an entity from the state that it is in: under its row's lock, so that two who move it at once do so one after the other, and the
 * second one's move is judged from where the first has left it.
 *
 * @throws SubjectMissingError, OwnerMismatchError; InvalidOptionsError where it has no such lifecycle
 */
export async function moveEntity(
  entity: EntitySubject,
  change: EntityChange & { readonly to: string; readonly lifecycle: string | null; readonly reason: string | null },
  manager: EntityManager,
): Promise<EntityTransitionAnswer> {
  const lifecycle = lifecycleOf(entity, change.lifecycle);
  const row = await lockedRow(entity, change, manager);
  const from = lifecycle.stateOf(row);
  const { to, actor, reason, runId, subject } = change;
  if (from === null) return { result: 'denied', reason: `it is in no state, its ${lifecycle.field} is null` };
  if (from === to) return { result: 'already-there' };
  const refusal = lifecycle.refusal(from, to);
  if (refusal !== undefined) return { result: 'denied', reason: refusal };
  lifecycle.put(row, to);
  await manager.save(entity.metadata.target, row);
  const { type: subjectType, id: subjectId } = subject;
  await lifecycle.keep(manager, { subjectType, subjectId, lifecycle: lifecycle.name, from, to, actor, reason, runId });
  return { result: 'applied', from };
}

/**
 * Writes one field of an entity, or one within a JSON column, under its row's lock.
 *
 * @throws SubjectMissingError, OwnerMismatchError, FieldNotWritableError
 */
export async function setEntityField(
  entity: EntitySubject,
  change: EntityChange & { readonly field: string; readonly value: unknown },
  manager: EntityManager,
): Promise<void> {
  const { field, value, subject } = change;
  const { writable } = entity;
  const allowed = writable.some((name) => field === name || field.startsWith(`${name}.`));
  if (!allowed) {
    const reason = writable.length === 0 ? 'there is none' : `there are ${writable.join(', ')}`;
    throw new FieldNotWritableError({ field, subject: subject.type, reason: `of the fields that may be, ${reason}` });
  }
  const names = field.split('.');
  if (names.some(leadsOut))
    throw new FieldNotWritableError({ field, subject: subject.type, reason: 'it leads out of the data' });
  const row = await lockedRow(entity, change, manager);
  const last = names.pop()!;
  let at: Record<string, unknown> = row;
  for (const [depth, name] of names.entries()) {
    const next = at[name] ?? {};
    const refuse = (reason: string) => new FieldNotWritableError({ field, subject: subject.type, reason });
    if (typeof next !== 'object' || Array.isArray(next)) throw refuse(`${name} holds no object`);
    const column = entity.metadata.findColumnWithPropertyPath(names.slice(0, depth + 1).join('.'));
    // A date takes what is set on it, and loses it; a column that is null would be given an object that it cannot hold.
    if (column && !isJson(column.type) && !isPlain(at[name])) throw refuse(`${name} is no JSON column`);
    // A value of a JSON column is compared with what was read: it must not be that very object.
    const inner = Object.getPrototypeOf(next) === Object.prototype ? { ...next } : next;
    at[name] = inner;
    at = inner as Record<string, unknown>;
  }
  at[last] = value;
  await manager.save(entity.metadata.target, row);
}

/** Of a column of another type, what its transformer has made of it. */
const isPlain = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** To what every object of JavaScript shares (fault A11). The check of a graph refuses it, too. */
const leadsOut = (name: string): boolean => name in Object.prototype || name === 'prototype';

async function lockedRow(
  entity: EntitySubject,
  { subject, ownerId }: EntityChange,
  manager: EntityManager,
): Promise<Record<string, unknown>> {
  const name = `${subject.type} ${subject.id}`;
  const row = await entity.lock(manager, subject.id);
  if (row === null) throw new SubjectMissingError({ subject: name });
  // The attempt has seen it as its owner's a moment ago.
  if (entity.ownerOf(row) !== ownerId) throw new OwnerMismatchError({ what: `The subject ${name}` });
  return row as Record<string, unknown>;
}

function lifecycleOf({ type, lifecycles }: EntitySubject, name: string | null): EntityLifecycle {
  const [only, ...others] = lifecycles.values();
  const found = name === null ? (others.length === 0 ? only : undefined) : lifecycles.get(name);
  if (found) return found;
  const names = [...lifecycles.keys()].join(', ') || 'none';
  const message = `"${type}" has ${name === null ? 'no single one' : `none called "${name}"`}; there are: ${names}`;
  throw new InvalidOptionsError({ where: '@WorkflowSubject', problems: [{ path: 'lifecycles', message }] });
}
