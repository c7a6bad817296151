import type { SubjectName } from '../../../engine/ports/index.js';

export interface SubjectColumns {
  subject_type: string | null;
  subject_id: string | null;
}

/** What a row is about: both columns are set, or none is. */
export function subjectOf({ subject_type: type, subject_id: id }: SubjectColumns): SubjectName | null {
  return type === null || id === null ? null : { type, id };
}
