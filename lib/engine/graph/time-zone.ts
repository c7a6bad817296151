/** Whether it names a time zone of the IANA database: `Europe/Rome`, `UTC`. An offset is none: it knows no summer time. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text)) return false;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
