import { ForeignDecoratorError } from '../errors/index.js';
import { MetadataAccessor } from './metadata-accessor.js';
import { hasMethod, type FoundProvider } from './provider-wrapper.js';

/** Packages whose decorators are called as ours are, by what their metadata keys look like. The last one is anybody's. */
const FOREIGN: readonly { readonly from: string; readonly key: RegExp }[] = [
  { from: '@nestjs/workflows', key: /nest(js)?[/:._-]?workflows/i },
  { from: '@workflow/nest', key: /@workflow\/|workflow[_-]?(sdk|devkit)/i },
  { from: 'nestjs-durable', key: /durable/i },
  { from: 'another package', key: /workflow/i },
];

/**
 * The error for providers that carry another engine's decorator and none of ours: most often the editor imported `Stage`
 * or `Workflow` from the wrong package, and nothing would ever run. Undefined where there are none.
 *
 * A provider counts only when it has the method that ours would call, too: metadata that merely has such a name is
 * nobody's mistake.
 */
export function foreignDecoratorError(providers: readonly FoundProvider[]): ForeignDecoratorError | undefined {
  const found = providers.flatMap((provider) => {
    const decorator = hasMethod(provider, 'define') ? 'Workflow' : hasMethod(provider, 'execute') ? 'Stage' : undefined;
    const origin = decorator && originOf(provider.type);
    return origin ? [{ place: provider.place, decorator, origin }] : [];
  });
  const first = found[0];
  if (!first) return undefined;
  const alike = found.filter(({ decorator }) => decorator === first.decorator);
  return new ForeignDecoratorError({
    place: alike.map(({ place }) => place).join(', '),
    decorator: first.decorator,
    from: first.origin,
    use: first.decorator,
  });
}

function originOf(type: Function): string | undefined {
  for (const name of MetadataAccessor.foreignKeys(type)) {
    const known = FOREIGN.find(({ key }) => key.test(name));
    if (known) return `${known.from} (its metadata key is "${name}")`;
  }
  return undefined;
}
