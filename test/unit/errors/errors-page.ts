import { ERROR_CODES } from '../../../lib/errors/index.js';

/** docs/errors.md, made from the catalogue. */
export function errorsPage(): string {
  const sections = Object.entries(ERROR_CODES)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([code, { text, meaning, retried, byHand }]) =>
        `## ${code}\n\n${meaning}\n\n- Text: ${quote(text)}\n- Retried by itself: ${retried ? 'yes' : 'no'}\n- Can be retried by hand: ${byHand ? 'yes' : 'no'}\n`,
    );
  return `# Error codes\n\nEvery error of the package is a \`WorkflowError\` with one of these codes; runs and attempts store it as their failure\ncode. Codes are part of the public API. Texts can be replaced, with the same \`{places}\`, by the module option\n\`messages\`; \`[[…]]\` is left out when its place is empty. What a stage throws itself is EXCEPTION.\n\nThis page is made from the catalogue: \`npm run docs:errors\`.\n\n${sections.join('\n')}`;
}

function quote(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}
