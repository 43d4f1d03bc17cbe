// Writes small PDFs, honest and hostile: own bytes, one object after the other, with a table that says where each begins.
import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

export interface PdfLine {
  readonly text: string
  readonly x: number
  /** From the lower edge of the page, as PDF counts. */
  readonly y: number
  readonly size?: number
  /** `F1` is Helvetica; `F2` has its characters in a map, and its text is written from left to right as it is seen. */
  readonly font?: 'F1' | 'F2'
}

export interface PdfPage {
  readonly lines?: readonly PdfLine[]
  /** Operators instead of lines. */
  readonly content?: Buffer
  /** Filters of `content`. */
  readonly filter?: string
  readonly links?: readonly {
    readonly url: string
    readonly rect: readonly [number, number, number, number]
  }[]
  /** More entries of the page, as PDF writes them. */
  readonly more?: string
}

export interface PdfOptions {
  readonly pages: readonly PdfPage[]
  /** Entries of the information dictionary, as PDF writes them. */
  readonly info?: string
  /** More entries of the catalogue, as PDF writes them. */
  readonly catalogue?: string
  /** More entries of the trailer. */
  readonly trailer?: string
  /** Objects that these entries refer to, from number 100 on. */
  readonly objects?: readonly (string | Buffer)[]
  /** Left out, the characters of `F2` have no map. */
  readonly hasMap?: boolean
}

/** Characters of `F2`, each with the number of its glyph: far from what any table would guess. */
const glyphOf = (char: string) => (char.codePointAt(0) ?? 0) ^ 0x5a5a

const hex = (value: number) => value.toString(16).padStart(4, '0')
const stream = (entries: string, bytes: Buffer) =>
  Buffer.concat([
    Buffer.from(`<< ${entries} /Length ${bytes.length} >>\nstream\n`),
    bytes,
    Buffer.from('\nendstream'),
  ])

function showLine({ text, x, y, size = 11, font = 'F1' }: PdfLine): string {
  const shown =
    font === 'F2'
      ? `<${[...text].map((char) => hex(glyphOf(char))).join('')}>`
      : `(${text.replace(/[\\()]/g, (char) => `\\${char}`).replaceAll('•', '\\225')})`
  return `BT /${font} ${size} Tf 1 0 0 1 ${x} ${y} Tm ${shown} Tj ET\n`
}

function toUnicodeMap(text: string): Buffer {
  const chars = [...new Set(text)]
  return Buffer.from(
    `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /T def\n` +
      `1 begincodespacerange <0000> <ffff> endcodespacerange\n` +
      `${chars.length} beginbfchar\n${chars.map((char) => `<${hex(glyphOf(char))}> <${hex(char.codePointAt(0) ?? 0)}>`).join('\n')}\nendbfchar\n` +
      `endcmap CMapName currentdict /CMap defineresource pop end end`,
  )
}

export function writePdf({
  pages,
  info = '',
  catalogue = '',
  trailer = '',
  objects = [],
  hasMap = true,
}: PdfOptions): Buffer {
  const all = new Map<number, string | Buffer>()
  const mapped = pages.flatMap(({ lines = [] }) =>
    lines.filter(({ font }) => font === 'F2').map(({ text }) => text),
  )
  const pageAt = (i: number) => 1000 + 2 * i
  all.set(1, `<< /Type /Catalog /Pages 2 0 R ${catalogue} >>`)
  all.set(
    2,
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, i) => `${pageAt(i)} 0 R`).join(' ')}] >>`,
  )
  all.set(3, `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>`)
  all.set(
    4,
    `<< /Type /Font /Subtype /Type0 /BaseFont /AAAAAA+Own /Encoding /Identity-H /DescendantFonts [5 0 R] ${hasMap ? '/ToUnicode 6 0 R' : ''} >>`,
  )
  all.set(
    5,
    `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /AAAAAA+Own /DW 500 /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor << /Type /FontDescriptor /FontName /AAAAAA+Own /Flags 4 /Ascent 800 /Descent -200 /CapHeight 700 /ItalicAngle 0 /StemV 80 /FontBBox [0 -200 1000 800] >> >>`,
  )
  all.set(6, stream('', toUnicodeMap(mapped.join(''))))
  all.set(7, `<< ${info} >>`)
  for (const [i, { lines = [], content, filter, links = [], more = '' }] of pages.entries()) {
    const annotations = links.map(
      ({ url, rect }) =>
        `<< /Type /Annot /Subtype /Link /Rect [${rect.join(' ')}] /A << /S /URI /URI (${url}) >> >>`,
    )
    all.set(
      pageAt(i),
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${pageAt(i) + 1} 0 R ` +
        `/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> /Annots [${annotations.join(' ')}] ${more} >>`,
    )
    all.set(
      pageAt(i) + 1,
      content
        ? stream(filter === undefined ? '' : `/Filter ${filter}`, content)
        : stream('/Filter /FlateDecode', deflateSync(lines.map(showLine).join(''))),
    )
  }
  for (const [i, object] of objects.entries()) all.set(100 + i, object)
  return assemble(all, `/Root 1 0 R /Info 7 0 R ${trailer}`)
}

function assemble(objects: ReadonlyMap<number, string | Buffer>, trailer: string): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\u00e2\u00e3\n', 'latin1')]
  let length = parts[0]!.length
  const table = ['0 1\n0000000000 65535 f \n']
  for (const [number, object] of objects) {
    const part = Buffer.concat([
      Buffer.from(`${number} 0 obj\n`),
      typeof object === 'string' ? Buffer.from(object, 'latin1') : object,
      Buffer.from('\nendobj\n'),
    ])
    table.push(`${number} 1\n${String(length).padStart(10, '0')} 00000 n \n`)
    parts.push(part)
    length += part.length
  }
  const size = Math.max(...objects.keys()) + 1
  parts.push(
    Buffer.from(
      `xref\n${table.join('')}trailer\n<< /Size ${size} ${trailer} >>\nstartxref\n${length}\n%%EOF\n`,
      'latin1',
    ),
  )
  return Buffer.concat(parts)
}

/** Lines under each other, as a text processor sets them. */
export const setLines = (
  texts: readonly string[],
  { x = 72, top = 770, size = 11, leading = 14, font = 'F1' as 'F1' | 'F2' } = {},
): PdfLine[] => texts.map((text, i) => ({ text, x, y: top - i * leading, size, font }))

/** A page of a book. */
export const PROSE = [
  'Green tea is steeped for three minutes in water that has been left to cool to eighty',
  'degrees, because boiling water draws out the bitter parts of the leaves before the sweet',
  'ones. Black tea takes boiling water and four minutes.',
]
export const prosePdf = (over: Partial<PdfOptions> = {}) =>
  writePdf({ pages: [{ lines: setLines(PROSE) }], ...over })

const md5 = (...parts: readonly Uint8Array[]) => createHash('md5').update(Buffer.concat(parts)).digest()
const PADDING = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex')

function rc4(key: Uint8Array, bytes: Uint8Array): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, i) => i)
  const swap = (a: number, b: number) => {
    const kept = state[a]!
    state[a] = state[b]!
    state[b] = kept
  }
  for (let i = 0, j = 0; i < 256; i++) swap(i, (j = (j + state[i]! + key[i % key.length]!) & 255))
  let i = 0
  let j = 0
  const made = bytes.map((byte) => {
    i = (i + 1) & 255
    j = (j + state[i]!) & 255
    swap(i, j)
    return byte ^ state[(state[i]! + state[j]!) & 255]!
  })
  return Buffer.from(made)
}

/**
 * A page of prose that opens without a password and says what may be done with it (ISO 32000-1, 7.6.3, revision 2).
 * @param permissions as table 22 has them
 */
export function lockedPdf(permissions: number): Buffer {
  const owner = Buffer.alloc(32, 7)
  const id = Buffer.alloc(16, 1)
  const allowed = Buffer.alloc(4)
  allowed.writeInt32LE(permissions)
  const key = md5(PADDING, owner, allowed, id).subarray(0, 5)
  // The content of the first page is object 1001.
  const keyOfContent = md5(key, Buffer.from([0xe9, 0x03, 0, 0, 0])).subarray(0, 10)
  const content = rc4(keyOfContent, Buffer.from(setLines(PROSE).map(showLine).join('')))
  const [o, u, i] = [owner, rc4(key, PADDING), id].map((bytes) => `<${bytes.toString('hex')}>`)
  return writePdf({
    pages: [{ content }],
    trailer: `/Encrypt << /Filter /Standard /V 1 /R 2 /O ${o} /U ${u} /P ${permissions} >> /ID [${i} ${i}]`,
  })
}
