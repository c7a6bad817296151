import type { DataSource, EntityMetadata } from 'typeorm';
import { InvalidOptionsError, type OptionProblem } from '../../errors/index.js';
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
    const found = subjectOf(metadata, mark, (message) => problems.push({ path, message }));
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
  metadata: EntityMetadata,
  { type, owner, fields = [] }: SubjectMark,
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
  const read = names.map((name) => column(name, 'field'));
  if (!named || !plain || !key || (owner !== undefined && !ownerColumn) || read.includes(undefined)) return undefined;
  return new EntitySubject(type, metadata, key, ownerColumn, names as string[]);
}
