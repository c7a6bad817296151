import fc from 'fast-check';
import { HtmlText } from '../../../sample/01-documents/reading/html-text.js';

function strip(...pieces: string[]): string {
  const html = new HtmlText();
  return pieces.map((piece) => html.write(piece)).join('') + html.end();
}

describe('HtmlText', () => {
  it('gives one line a block element, and leaves inline elements in their line', () => {
    expect(strip('<h1>Title</h1>\n  <p>One <em>two</em>\n three.</p><ul><li>a</li><li>b</li></ul>')).toBe(
      'Title\nOne two three.\na\nb',
    );
  });

  it('leaves out the head, comments, scripts, styles and the doctype', () => {
    const html =
      '<!doctype html><html><head><title>T</title></head><body><!-- <p>no</p> > --><script>if (a < b) "<p>"</SCRIPT >' +
      '<style>p{}</style><p>yes</p></body></html>';
    expect(strip(html)).toBe('yes');
  });

  it('decodes character references and keeps unknown ones', () => {
    expect(strip('<p>R&#x26;D &lt;3 &#8364; &nosuch; &amp;lt; &#xD800;&#0; AT&T</p>')).toBe(
      'R&D <3 € &nosuch; &lt; \ufffd\ufffd AT&T',
    );
  });

  it('takes a lone < for a character, at the end of the document too', () => {
    expect(strip('<p>1 < 2 and 3<4</p><')).toBe('1 < 2 and 3<4\n<');
    expect(strip('a <b')).toBe('a <b');
  });

  it('does not end a tag at a > inside a quoted attribute', () => {
    expect(strip('<p title="a > b" data-x = \'>\'>text</p>')).toBe('text');
  });

  it('never skips on for ever: a tag without an end becomes text after a bounded length', () => {
    const html = new HtmlText();
    html.write('<p>a</p><b ');
    const written = html.write('x'.repeat(70_000)) + html.write(' and on');
    expect(written).toContain('and on');
  });

  it('holds a long comment back in no memory', () => {
    const html = new HtmlText();
    html.write('<!-- ');
    for (let i = 0; i < 50; i += 1) html.write('x'.repeat(10_000));
    expect((html as unknown as { pending: string }).pending.length).toBeLessThan(100);
    expect(html.write('--><p>after</p>') + html.end()).toBe('after');
  });

  it('gives the same text wherever the input is cut', () => {
    const parts = fc.constantFrom(
      ...'<p> </p> <b> </b> <!-- --> <script> </script> <head> </head> &#x26; &amp; & < > " = word é 𞤀'.split(' '),
      ' ',
      '\n',
      '<p a="',
      '">',
    );
    const property = fc.property(
      fc.array(parts, { maxLength: 30 }),
      fc.array(fc.nat(), { maxLength: 6 }),
      (list, cuts) => {
        const html = list.join('');
        const places = cuts.map((cut) => cut % (html.length + 1)).sort((a, b) => a - b);
        const pieces = [0, ...places].map((place, i) => html.slice(place, places[i] ?? html.length));
        expect(strip(...pieces)).toBe(strip(html));
        expect(strip(...html)).toBe(strip(html));
      },
    );
    fc.assert(property, { numRuns: 500 });
  });
});
