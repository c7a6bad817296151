import { fc } from '../../support/properties.js';
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

  it('takes a lone < for a character, and leaves out a tag that the document does not end', () => {
    expect(strip('<p>1 < 2 and 3<4</p><')).toBe('1 < 2 and 3<4\n<');
    expect(strip('a <b')).toBe('a');
  });

  it('loses nothing after elements that are unseen and empty, or not ended', () => {
    expect(strip('<script src="a.js"></script><script src="b.js"></script>seen')).toBe('seen');
    expect(strip('<head></head><style></style><!----><p>seen')).toBe('seen');
    expect(strip('<head><title>T</title><body>seen')).toBe('seen');
  });

  it('does not end a tag at a > inside a quoted attribute', () => {
    expect(strip('<p title="a > b" data-x = \'>\'>text</p>')).toBe('text');
  });

  it('gives text as it comes, and keeps none back', () => {
    const html = new HtmlText();
    expect(html.write('<p>one ')).toBe('one');
    expect(html.write('two')).toBe(' two');
    expect(html.write('</p><!-- ' + 'x'.repeat(100_000))).toBe('');
    expect(html.write('--><p>three')).toBe('\nthree');
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
