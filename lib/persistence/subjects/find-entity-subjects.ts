import type { DataSource, EntityMetadata } from 'typeorm';
import { InvalidOptionsError, type OptionProblem } from '../../errors/index.js';
import { EntityLifecycle, NEEDED_OF_HISTORY } from './entity-lifecycle.js';
import { EntitySubject, type ColumnMetadata, type SubjectMark } from './entity-subject.js';

/** What a class, or one that it extends, was marked with. */
export type ReadMark = (entity: Function) => SubjectMark | undefined;

/**
 * The entities of a DataSource that are marked as subjects, by type.
 *
 * @throws InvalidOptionsError with everything that is wrong with their marks
 */
export function findEntitySubjects(host: DataSource, readMark: ReadMark): Map<string, EntitySubject> {
  const subjects = new Map<string, EntitySubject>();
  const problems: OptionProblem[] = [];
  for (const metadata of host.entityMetadatas) {
    const { target } = metadata;
    const mark = typeof target === 'function' ? readMark(target) : undefined;
    // What extends a marked entity is among its rows, and claims nothing for itself.
    if (!mark || isOfParent(host, target as Function, mark, readMark)) continue;
    const path = `@WorkflowSubject of ${metadata.name}`;
    const found = subjectOf(host, metadata, mark, (message) => problems.push({ path, message }));
    const rival = found && subjects.get(found.type);
    if (rival) {
      const message = `claims the type "${rival.type}", which ${rival.metadata.name} claims too: give each a type of its own`;
      problems.push({ path, message });
    } else if (found) subjects.set(found.type, found);
  }
  if (problems.length > 0) throw new InvalidOptionsError({ problems });
  return subjects;
}

function isOfParent(host: DataSource, entity: Function, mark: SubjectMark, readMark: ReadMark): boolean {
  const parent: unknown = Object.getPrototypeOf(entity);
  if (typeof parent !== 'function' || readMark(parent) !== mark) return false;
  return host.hasMetadata(parent) || isOfParent(host, parent, mark, readMark);
}

function subjectOf(
  host: DataSource,
  metadata: EntityMetadata,
  { type, owner, fields = [], writable = [], lifecycles }: SubjectMark,
  complain: (message: string) => void,
): EntitySubject | undefined {
  const column = (name: unknown, role: string): ColumnMetadata | undefined => {
    const found = metadata.columns.find(({ propertyPath }) => propertyPath === name);
    if (found && !found.relationMetadata) return found;
    const known = metadata.columns.filter(({ relationMetadata }) => !relationMetadata);
    const names = known.map(({ propertyPath }) => propertyPath).join(', ');
    complain(
      found
        ? `${role} "${String(name)}" is a relation, which is not always loaded: name a column of its own; there are ${names}`
        : `${role} "${String(name)}" is no column of ${metadata.name}; there are ${names}`,
    );
    return undefined;
  };
  const [key] = metadata.primaryColumns;
  const named = typeof type === 'string' && type.trim() !== '';
  if (!named) complain('type must be a text that is not blank');
  const plain = metadata.primaryColumns.length === 1 && !key?.relationMetadata;
  if (!plain) complain('its primary key is no single column: give the type a resolver in subjects.resolvers instead');
  const ownerColumn = owner === undefined ? undefined : column(owner, 'owner');
  const names: readonly unknown[] = Array.isArray(fields) ? fields : [fields];
  const written: readonly unknown[] = Array.isArray(writable) ? writable : [writable];
  const read = names.map((name) => column(name, 'field'));
  const write = written.map((name) => column(name, 'writable field'));
  for (const one of write)
    if (one && (one === key || one === ownerColumn))
      complain(`"${one.propertyPath}" cannot be writable: it says which entity this is, or whose`);
  const moved = lifecyclesOf(host, lifecycles, column, complain);
  const whole = named && plain && key && !(owner !== undefined && !ownerColumn);
  if (!whole || read.includes(undefined) || write.includes(undefined)) return undefined;
  return new EntitySubject(type, metadata, key, ownerColumn, names as string[], written as string[], moved);
}

function lifecyclesOf(
  host: DataSource,
  given: unknown,
  column: (name: unknown, role: string) => ColumnMetadata | undefined,
  complain: (message: string) => void,
): Map<string, EntityLifecycle> {
  const lifecycles = new Map<string, EntityLifecycle>();
  if (given === undefined) return lifecycles;
  if (!isRecord(given)) complain('lifecycles must be an object of lifecycles by name');
  else
    for (const [name, one] of Object.entries(given)) {
      if (!isRecord(one) || !isRecord(one.transitions) || !Object.values(one.transitions).every(isTexts)) {
        complain(`lifecycle "${name}" needs transitions: lists of states by the state that they follow`);
        continue;
      }
      const state = column(one.field ?? name, `the field of lifecycle "${name}",`);
      const history = historyOf(host, name, one.history, complain);
      const transitions = Object.entries(one.transitions as Record<string, readonly string[]>);
      const after = new Map(transitions.map(([from, to]) => [from, new Set(to)] as const));
      if (state) lifecycles.set(name, new EntityLifecycle(name, state, after, history));
    }
  return lifecycles;
}

function historyOf(
  host: DataSource,
  lifecycle: string,
  entity: unknown,
  complain: (message: string) => void,
): EntityMetadata | null {
  if (entity === undefined) return null;
  const what = `the history of lifecycle "${lifecycle}"`;
  if (typeof entity !== 'function' || !host.hasMetadata(entity)) {
    complain(`${what} is no entity of this DataSource`);
    return null;
  }
  const metadata = host.getMetadata(entity);
  const missing = NEEDED_OF_HISTORY.filter((name) => !metadata.findColumnWithPropertyName(name));
  if (missing.length > 0) complain(`${what}, ${metadata.name}, has no column ${missing.join(', ')}`);
  return metadata;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string');
