// What a PDF says about itself: title, authors, dates and language, of its information dictionary and its XMP packet.
import type { ExtractedDocument } from '../../../schemas/document.ts'
import { MAX_LABEL_CHARACTERS } from '../extract/limits.ts'
import { cleanText, collapseSpaces, cutText } from '../extract/text.ts'
import type { PDFDocumentProxy } from './open.ts'

export type PdfMetadata = Pick<
  ExtractedDocument,
  'title' | 'byline' | 'authors' | 'description' | 'published_time' | 'modified_time'
> & { readonly language: string | null }

/** Names that programs give what they print. */
const NO_TITLE =
  /^(?:untitled|document\d*|title|slide 1|powerpoint presentation|.{1,200}\.(?:docx?|odt|rtf|pptx?|xlsx?|indd|tex|dvi|pdf|qxd|pmd|html?))$/i
const PRINTED_BY = /^(?:microsoft (?:word|powerpoint|excel)|openoffice writer)\s+-\s+/i
const NO_AUTHOR = /^(?:user|admin(?:istrator)?|unknown|author|owner|default|anonymous|\s*)$/i
const MAX_AUTHORS = 20
// ISO 32000-1, 7.9.4: everything behind the year may be left out.
const DATE = /^(?:D:)?(\d{4})(\d{2})?(\d{2})?(?:(\d{2})(\d{2})(\d{2})?)?(?:(Z)|([+-])(\d{2})'?(\d{2})?'?)?/

export async function readPdfMetadata(pdf: PDFDocumentProxy): Promise<PdfMetadata> {
  const { info, metadata } = await pdf.getMetadata()
  const own = info as Readonly<Record<string, unknown>>
  // The packet is what programs write today, and the dictionary is what is left where there is none.
  const stated = (name: string, key: string): string | undefined =>
    lineOf(metadata?.get(name)) ?? lineOf(own[key])
  const creators: unknown = metadata?.get('dc:creator')
  const authors = (
    Array.isArray(creators) && creators.length > 0
      ? creators
      : typeof own['Author'] === 'string'
        ? own['Author'].split(/\s*[;\n]\s*/)
        : []
  )
    .slice(0, MAX_AUTHORS)
    .map(lineOf)
    .filter((name) => name !== undefined && !NO_AUTHOR.test(name) && !name.includes('@')) as string[]
  const title = stated('dc:title', 'Title')?.replace(PRINTED_BY, '')
  return {
    title: title === undefined || NO_TITLE.test(title) ? null : title,
    authors,
    byline: authors.length > 0 ? authors.join(', ') : null,
    description: stated('dc:description', 'Subject') ?? null,
    published_time: toTime(own['CreationDate']),
    modified_time: toTime(own['ModDate']),
    language: lineOf(own['Language']) ?? null,
  }
}

function lineOf(value: unknown): string | undefined {
  const text = Array.isArray(value) ? (value as unknown[])[0] : value
  if (typeof text !== 'string') return undefined
  const line = cutText(
    collapseSpaces(cleanText(text.slice(0, 4 * MAX_LABEL_CHARACTERS))),
    MAX_LABEL_CHARACTERS,
  )
  return line === '' ? undefined : line
}

/** With the zone as stated, and none where none is. */
export function toTime(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const [, year, month, day, hour, minute, second = '00', utc, sign, zoneHour, zoneMinute = '00'] =
    DATE.exec(value) ?? []
  if (year === undefined || month === undefined || day === undefined) return null
  const date = `${year}-${month}-${day}`
  if (hour === undefined) return isDate(date) ? date : null
  const zone = utc ? 'Z' : sign && zoneHour ? `${sign}${zoneHour}:${zoneMinute}` : ''
  const time = `${date}T${hour}:${minute}:${second}`
  return isDate(date) && Number.isFinite(Date.parse(`${time}Z`)) ? time + zone : null
}

/** The 30th of February is none. */
const isDate = (date: string) =>
  Number.isFinite(Date.parse(date)) && new Date(`${date}T00:00:00Z`).toISOString().startsWith(date)
