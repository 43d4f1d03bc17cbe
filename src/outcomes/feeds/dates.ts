// Turns what a feed writes as a date into RFC 3339 with the zone it states. It never uses the platform's parser, which
// guesses and depends on where it runs: what is not known for certain stays the raw text.

export interface FeedDate {
  /** The date as written, trimmed. */
  readonly raw: string
  /** RFC 3339 with the offset as stated; in UTC where none is. Null where the text is no date that is known. */
  readonly at: string | null
  /** The same instant, for sorting. */
  readonly epochMs: number | null
  readonly precision: 'year' | 'month' | 'day' | 'minute' | 'second' | null
  /** False where the feed gives no zone, or one that means several. */
  readonly isZoneStated: boolean
}

const MAX_CHARACTERS = 100

/** The date with its instant; `at` is null where it is not certain. */
export function parseDate(written: string): FeedDate {
  const raw = written.trim().slice(0, MAX_CHARACTERS)
  const fields = written.length > 10 * MAX_CHARACTERS ? undefined : readFields(raw)
  return (
    (fields && toDate(raw, fields)) ?? { raw, at: null, epochMs: null, precision: null, isZoneStated: false }
  )
}

interface Fields {
  readonly year: number
  /** 1 to 12. */
  readonly month?: number | undefined
  readonly day?: number | undefined
  /** Time and zone, as written. */
  readonly rest?: string | undefined
  /** Day of the year, in place of month and day. */
  readonly ordinal?: number | undefined
}

function readFields(raw: string): Fields | undefined {
  const text = raw
    .replace(/\s+/g, ' ')
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFC')
    .toLowerCase()
  for (const read of READERS) {
    const fields = read(text)
    if (fields) return fields
  }
  return undefined
}

const year2 = (text: string): number =>
  text.length > 2 ? Number(text) : Number(text) + (Number(text) < 50 ? 2000 : 1900)

const TAIL = String.raw`(?:(?:t|,? )(.*))?$`
const numeric = (pattern: string, pick: (groups: string[]) => Fields | undefined) => {
  const expression = new RegExp(`^${pattern}${TAIL}`)
  return (text: string) => {
    const match = expression.exec(text)
    return match ? pick(match.slice(1) as string[]) : undefined
  }
}

/** Month first or day first is the reader's guess, except where only one of them can be a month. */
function readSlashes([first, second, year, rest]: string[]): Fields | undefined {
  const [a, b] = [Number(first), Number(second)]
  if (a > 12 && b <= 12) return { year: Number(year), month: b, day: a, rest }
  if (b > 12 && a <= 12) return { year: Number(year), month: a, day: b, rest }
  return undefined
}

const fromNames =
  (expression: RegExp) =>
  (text: string): Fields | undefined => {
    const groups = expression.exec(text)?.groups
    const month = MONTHS.get((groups?.['month'] ?? '').replace(/\.$/, ''))
    if (!groups || month === undefined) return undefined
    const rest = [groups['rest'], groups['zone']].filter(Boolean).join(' ')
    return { year: year2(groups['year'] ?? ''), month, day: Number(groups['day']), rest }
  }

const WEEKDAY = String.raw`(?:\p{L}{2,15}\.?,? ?)?`
const MONTH = String.raw`(?<month>\p{L}{3,12}\.?)`

const READERS: readonly ((text: string) => Fields | undefined)[] = [
  // ISO 8601 and its relatives; six digits are year, month, day as they were written in 1999.
  numeric(String.raw`(\d{4})-(\d{1,2})-(\d{1,2})`, ([y, m, d, rest]) => toFields(y, m, d, rest)),
  numeric(String.raw`(\d{4})(\d{2})(\d{2})`, ([y, m, d, rest]) => toFields(y, m, d, rest)),
  numeric(String.raw`(\d{4})[/.](\d{1,2})[/.](\d{1,2})`, ([y, m, d, rest]) => toFields(y, m, d, rest)),
  numeric(String.raw`(\d{4})-(\d{2})`, ([y, m, rest]) =>
    rest ? undefined : { year: Number(y), month: Number(m) },
  ),
  numeric(String.raw`(\d{4})-?(\d{3})`, ([y, ordinal, rest]) => ({
    year: Number(y),
    ordinal: Number(ordinal),
    rest,
  })),
  numeric(String.raw`(\d{2})-?(\d{2})-?(\d{2})`, ([y = '', m, d, rest]) => ({
    year: year2(y),
    month: Number(m),
    day: Number(d),
    rest,
  })),
  numeric(String.raw`(\d{4})`, ([y, rest]) => (rest ? undefined : { year: Number(y) })),
  numeric(String.raw`(\d{1,2})\.(\d{1,2})\.(\d{4})`, ([d, m, y, rest]) => toFields(y, m, d, rest)),
  numeric(String.raw`(\d{1,2})/(\d{1,2})/(\d{4})`, readSlashes),
  // RFC 822, asctime, what JavaScript prints, what people write.
  fromNames(
    new RegExp(
      `^${WEEKDAY}(?<day>\\d{1,2})(?:st|nd|rd|th)?\\.?[ -]${MONTH},?[ -](?<year>\\d{4}|\\d{2})(?:,? (?<rest>.*))?$`,
      'u',
    ),
  ),
  fromNames(
    new RegExp(
      `^${WEEKDAY}${MONTH} (?<day>\\d{1,2}) (?<rest>\\d{1,2}:\\d{2}(?::\\d{2})?)(?: (?<zone>[a-z]{1,5}|[+-]\\d{4}))? (?<year>\\d{4})$`,
      'u',
    ),
  ),
  fromNames(
    new RegExp(
      `^${WEEKDAY}${MONTH} (?<day>\\d{1,2})(?:st|nd|rd|th)?,? (?<year>\\d{4})(?:,? (?:at )?(?<rest>.*))?$`,
      'u',
    ),
  ),
  fromNames(
    new RegExp(`^(?<year>\\d{4})[-. ]{1,2}${MONTH}[-. ]{1,2}(?<day>\\d{1,2})\\.?(?:[t ](?<rest>.*))?$`, 'u'),
  ),
  readCjk,
]

const toFields = (y?: string, m?: string, d?: string, rest?: string): Fields => ({
  year: Number(y),
  month: Number(m),
  day: Number(d),
  rest,
})

function readCjk(text: string): Fields | undefined {
  const match =
    /^(\d{4}) ?[년年] ?(\d{1,2}) ?[월月] ?(\d{1,2}) ?[일日] ?(?:\(.\) ?)?(오전|오후|上午|下午|午前|午後)? ?(.*)$/u.exec(
      text,
    )
  if (!match) return undefined
  const [, y, m, d, half, time] = match
  const suffix = half === undefined ? '' : /오후|下午|午後/.test(half) ? ' pm' : ' am'
  return toFields(y, m, d, time === '' ? undefined : `${time}${suffix}`)
}

function toDate(raw: string, fields: Fields): FeedDate | undefined {
  const time = readTime(fields.rest)
  if (!time || fields.year < 1000) return undefined
  const { month = 1, day = 1 } =
    fields.ordinal === undefined ? fields : fromOrdinal(fields.year, fields.ordinal)
  const { hour, minute, second, offsetMinutes } = time
  const days = new Date(Date.UTC(fields.year, month, 0)).getUTCDate()
  if (month < 1 || month > 12 || day < 1 || day > days || hour > 23 || minute > 59 || second > 60)
    return undefined
  // A leap second is the last one that a clock shows.
  const clock = [hour, minute, Math.min(second, 59)]
  const epochMs =
    Date.UTC(fields.year, month - 1, day, ...(clock as [number, number, number])) -
    (offsetMinutes ?? 0) * 60_000
  const date = [String(fields.year).padStart(4, '0'), two(month), two(day)].join('-')
  return {
    raw,
    at: `${date}T${clock.map(two).join(':')}${formatOffset(offsetMinutes ?? 0)}`,
    epochMs,
    precision:
      time.precision ??
      (fields.ordinal !== undefined || fields.day !== undefined
        ? 'day'
        : fields.month !== undefined
          ? 'month'
          : 'year'),
    isZoneStated: offsetMinutes !== undefined,
  }
}

function fromOrdinal(year: number, ordinal: number): { month: number; day: number } {
  const date = new Date(Date.UTC(year, 0, ordinal))
  // Day 0 and day 366 of most years are in another one: no such day.
  if (date.getUTCFullYear() !== year) return { month: 0, day: 0 }
  return { month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}

const two = (value: number) => String(value).padStart(2, '0')

function formatOffset(minutes: number): string {
  if (minutes === 0) return 'Z'
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

interface Time {
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly precision: 'minute' | 'second' | undefined
  /** Undefined where no zone is stated, or none that is certain. */
  readonly offsetMinutes: number | undefined
}

const TIME =
  /^(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:[.,]\d{1,12})?)?|(\d{2})(\d{2})?(?:[.,]\d{1,12})?)?(?: ?([ap])\.?m\.?)?(?: ?(.*))?$/

function readTime(written: string | undefined): Time | undefined {
  const text = written?.trim() ?? ''
  const none = { hour: 0, minute: 0, second: 0, precision: undefined } as const
  if (text === '') return { ...none, offsetMinutes: undefined }
  const match = TIME.exec(text)
  if (!match) {
    // `Thu, 01 Jan 2004 GMT`: a zone without a time.
    const zone = readZone(text)
    return zone && { ...none, offsetMinutes: zone.offsetMinutes }
  }
  const [, hour, minute, second, minute2, second2, half, rest] = match
  const zone = readZone(rest ?? '')
  if (!zone || (half !== undefined && (Number(hour) > 12 || Number(hour) < 1))) return undefined
  const seconds = second ?? second2
  return {
    hour: half === undefined ? Number(hour) : (Number(hour) % 12) + (half === 'p' ? 12 : 0),
    minute: Number(minute ?? minute2 ?? 0),
    second: Number(seconds ?? 0),
    precision: seconds === undefined ? 'minute' : 'second',
    offsetMinutes: zone.offsetMinutes,
  }
}

/** Names that mean one thing wherever they are written. BST, IST and the letters of the military do not. */
const ZONES = new Map<string, number>(
  Object.entries({
    'z ut utc gmt wet': 0,
    'cet met mez west': 60,
    'cest mest mesz eet': 120,
    eest: 180,
    'jst kst': 540,
    aest: 600,
    aedt: 660,
    nzst: 720,
    nzdt: 780,
    nst: -210,
    ndt: -150,
    adt: -180,
    edt: -240,
    'est cdt': -300,
    'cst mdt': -360,
    'mst pdt': -420,
    'pst akdt': -480,
    akst: -540,
    hst: -600,
  }).flatMap(([names, minutes]) => names.split(' ').map((name) => [name, minutes] as const)),
)

function readZone(written: string): { offsetMinutes: number | undefined } | undefined {
  const text = written.replace(/ ?\([^()]{0,60}\)$/, '').trim()
  if (text === '') return { offsetMinutes: undefined }
  const known = ZONES.get(text.replace(/^etc\//, ''))
  if (known !== undefined) return { offsetMinutes: known }
  const offset = /^(?:(?:etc\/)?(?:gmt|utc|ut))? ?([+\u2212-]) ?(\d{1,2})(?::?(\d{2}))?$/.exec(text)
  if (offset) {
    const [, sign, hours, minutes = '0'] = offset
    if (Number(hours) > 15 || Number(minutes) > 59) return undefined
    return { offsetMinutes: (sign === '+' ? 1 : -1) * (Number(hours) * 60 + Number(minutes)) || 0 }
  }
  // A zone that is named, but not known for certain.
  return /^[a-z]{1,6}$|^[a-z_]{2,20}\/[a-z_]{2,20}$/.test(text) ? { offsetMinutes: undefined } : undefined
}

/** Names of months without accents and other marks, which the text has lost by then. */
const MONTH_NAMES = [
  'jan january januar janvier janv enero ene januari gennaio gen janeiro ianuarie ιαν stycznia',
  'feb february februar fevrier fev febrero februari febbraio fevereiro φεβ lutego',
  'mar march marz mrz mars marzo maart mrt marco marcius μαρ μαρτ marca',
  'apr april avril avr abril abr aprile aprilis απρ kwietnia',
  'may mai mayo maio mei maj maggio mag majus μαι μαϊ maja',
  'jun june juni juin junio giugno giu junho junius ιουν ιον czerwca',
  'jul july juli juillet juil julio luglio lug julho julius ιουλ ιολ lipca',
  'aug august aout agosto ago augustus augusztus αυγ sierpnia',
  'sep sept september septembre septiembre settembre set setembro szeptember σεπ σεπτ wrzesnia',
  'oct october okt oktober octobre octubre ottobre ott outubro out οκτ pazdziernika',
  'nov november novembre noviembre novembro νοε νοεμ listopada',
  'dec december dez dezember decembre diciembre dic dicembre dezembro δεκ grudnia',
]
const MONTHS = new Map(
  MONTH_NAMES.flatMap((names, index) => names.split(' ').map((name) => [name, index + 1] as const)),
)
