import type { Import } from './imports.js';
import type { Arrow, Room } from './rooms.js';

export type Rooms = Readonly<Record<string, Room>>;

/** The room that a file lies in: the longest name that its path begins with. */
export function roomOf(rooms: Rooms, file: string): string | undefined {
  return Object.keys(rooms)
    .filter((room) => file === room || file.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0];
}

/** A sentence for each import that no arrow of the table allows, and for each file that lies in no room. */
export function arrowComplaints(rooms: Rooms, files: readonly string[], imports: readonly Import[]): readonly string[] {
  const homeless = files.filter((file) => roomOf(rooms, file) === undefined).map((file) => `${file} lies in no room`);
  return [...homeless, ...imports.flatMap((entry) => complaint(rooms, entry) ?? [])];
}

function complaint(rooms: Rooms, entry: Import): string | undefined {
  const at = `${entry.file}:${entry.line}`;
  const from = roomOf(rooms, entry.file);
  const to = entry.target === undefined ? entry.library! : roomOf(rooms, entry.target);
  if (from === undefined || to === from) return undefined;
  if (to === undefined) return `${at} imports ${entry.specifier}, which lies in no room`;
  const arrow = rooms[from]![to];
  if (arrow === undefined) return `${at}: ${from} may not import ${to}`;
  const broken = breach(arrow, entry);
  return broken && `${at}: ${from} may import ${to} ${broken}`;
}

function breach(arrow: Arrow, entry: Import): string | undefined {
  if (entry.typeOnly) return undefined;
  if (arrow.kind === 'types') return 'as types only';
  if (arrow.lazy === true && !entry.lazy) return 'only by import(), where it is needed';
  const names = arrow.names;
  if (names === undefined) return undefined;
  const allowed = entry.names.length > 0 && entry.names.every((name) => names.includes(name));
  return allowed ? undefined : `only for ${names.join(', ')}`;
}

/** Exceptions of the table that no import makes use of. */
export function unusedExceptions(rooms: Rooms, imports: readonly Import[]): readonly string[] {
  const used = new Set(
    imports.map(({ file, target, library }) => {
      return `${roomOf(rooms, file)} → ${target === undefined ? library : roomOf(rooms, target)}`;
    }),
  );
  return Object.entries(rooms).flatMap(([from, room]) =>
    Object.entries(room)
      .filter(([to, { reason }]) => reason !== undefined && !used.has(`${from} → ${to}`))
      .map(([to]) => `${from} → ${to}`),
  );
}

/** Imports that are written otherwise than this package writes them. */
export function spellingComplaints(imports: readonly Import[]): readonly string[] {
  return imports.flatMap(({ file, line, specifier, target, library }) => {
    if (target !== undefined)
      return specifier.endsWith('.js') ? [] : [`${file}:${line}: '${specifier}' must end in .js`];
    // A package's inner paths are no promise: Nest 12 closed those that Nest 11 had open.
    if (specifier === library || library!.startsWith('node:')) return [];
    return [`${file}:${line}: '${specifier}' must be imported from '${library}'`];
  });
}

/** Circles of imports by value: in one, what a file sees depends on which of them is loaded first. */
export function circles(imports: readonly Import[]): readonly string[] {
  const next = new Map<string, string[]>();
  for (const { file, target, typeOnly, lazy } of imports) {
    if (target !== undefined && !typeOnly && !lazy) next.set(file, [...(next.get(file) ?? []), target]);
  }
  const found = new Set<string>();
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) found.add([...path.slice(start), file].join(' → '));
    if (start >= 0 || done.has(file)) return;
    for (const target of next.get(file) ?? []) walk(target, [...path, file]);
    done.add(file);
  };
  for (const file of next.keys()) walk(file, []);
  return [...found];
}
