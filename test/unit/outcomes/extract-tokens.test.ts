import fc from 'fast-check'
import { QuoteType, Tokenizer } from 'htmlparser2'
import { describe, expect, it } from 'vitest'
import { attributeValue, readTokens } from '../../../src/outcomes/extract/tokens.ts'

type Token =
  | { readonly open: string; readonly attributes: string[]; readonly hasSlash: boolean }
  | { readonly close: string }
  | { readonly text: string }
  | { readonly comment: string }

/** Text that comes in pieces is one token. */
function createList() {
  const tokens: Token[] = []
  return {
    tokens,
    add(token: Token) {
      const last = tokens.at(-1)
      if ('text' in token && last && 'text' in last)
        tokens[tokens.length - 1] = { text: last.text + token.text }
      else tokens.push(token)
    },
  }
}

function read(html: string, isForeign = false): Token[] {
  const { tokens, add } = createList()
  let name = ''
  let attributes: string[] = []
  readTokens(html, {
    onOpenName(opened) {
      name = opened
      attributes = []
    },
    onAttribute: (nameStart, nameEnd, start, end) =>
      void attributes.push(`${html.slice(nameStart, nameEnd)}=${attributeValue(html, start, end)}`),
    onOpenEnd: (hasSlash) => add({ open: name, attributes, hasSlash }),
    onClose: (close) => add({ close }),
    onText: (text) => add({ text }),
    onComment: (comment) => add({ comment }),
    isForeign: () => isForeign,
  })
  return tokens
}

function readWithLibrary(html: string): Token[] {
  const { tokens, add } = createList()
  let name = ''
  let attributes: string[] = []
  let attribute = ''
  let value = ''
  const lower = (start: number, end: number) => html.slice(start, end).toLowerCase()
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        name = lower(start, end)
        attributes = []
      },
      onattribname(start, end) {
        attribute = html.slice(start, end)
        value = ''
      },
      onattribdata: (start, end) => void (value += html.slice(start, end)),
      onattribentity: (code) => void (value += String.fromCodePoint(code)),
      onattribend: (quote) =>
        void attributes.push(`${attribute}=${quote === QuoteType.NoValue ? '' : value}`),
      onopentagend: () => add({ open: name, attributes, hasSlash: false }),
      onselfclosingtag: () => add({ open: name, attributes, hasSlash: true }),
      onclosetag: (start, end) => add({ close: lower(start, end) }),
      ontext: (start, end) => add({ text: html.slice(start, end) }),
      ontextentity: (code) => add({ text: String.fromCodePoint(code) }),
      oncomment: (start, end, offset) => add({ comment: html.slice(start, end - offset) }),
      oncdata: (start, end, offset) => add({ comment: html.slice(start, end - offset) }),
      ondeclaration() {},
      onprocessinginstruction() {},
      onend() {},
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  return tokens
}

// Without a bare `<`, right behind which the library reads no reference inside a title.
const PIECES =
  'a p = " \' / > ! - -- ; # & <p </p> </p <a b="c" <br/> <i\tx=1 <script> </script> </SCRIPT> <style </style> <title> </title> <textarea> </textarea> <plaintext> <!-- --> --!> <!--> <!---> <![CDATA[ ]]> <!doctype> <!DOCTYPE <!x <?xml?> </> </1> &amp; &amp &ampx &gt= &#x41; &#0; &#x110000; &notit; &nbsp; \n é'.split(
    ' ',
  )
/** Ends whatever is open, so that no source ends inside a tag or a comment. */
const END = ']]>\'>">-->'

describe('tokens of HTML', () => {
  it('are those of htmlparser2', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...PIECES, ' '), { maxLength: 12 }).map((pieces) => pieces.join('') + END),
        (html) => {
          expect(read(html)).toEqual(readWithLibrary(html))
        },
      ),
      { numRuns: 3000 },
    )
  })

  it('leaves out a tag that the source ends in', () => {
    expect(read('a<p class="b')).toEqual([{ text: 'a' }])
    expect(read('a</p')).toEqual([{ text: 'a' }])
    expect(read('a<')).toEqual([{ text: 'a<' }])
  })

  it('reads tags inside SVG where HTML has raw text', () => {
    expect(read('<title><b>', true)).toHaveLength(2)
    expect(read('<title><b>')).toEqual([{ open: 'title', attributes: [], hasSlash: false }, { text: '<b>' }])
  })
})
