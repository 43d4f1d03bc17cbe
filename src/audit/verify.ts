// Checks an export of the audit log with nothing but the published keys: every event is the one that was written, none is missing,
// none changed places, and the gateway signed for the last of them.
import { digestCanonical } from '../lib/canonical-json.ts'
import { isObject } from '../lib/json.ts'
import { JWS_TYPES, type KeyDocument, verifyJws } from '../receipts/types.ts'

export type AuditFault =
  | 'not_an_export'
  | 'line_malformed'
  | 'event_changed'
  | 'event_missing'
  | 'event_out_of_order'
  | 'event_of_another_chain'
  | 'beginning_missing'
  | 'head_invalid'
  | 'head_mismatch'
  | 'end_missing'
  | 'end_unsigned'

export type AuditVerdict =
  | {
      readonly ok: true
      readonly chain: string
      readonly events: number
      /** They follow this event, which an export that is not the first begins behind; 0 where they are all there are. */
      readonly after: number
      /** Whether a witness says what came before them: nobody else signed for where such an export begins. */
      readonly isBeginningWitnessed: boolean
      /** The last event, which `kid` signed for at `signedAt` (seconds since the epoch). */
      readonly seq: number
      readonly hash: string
      readonly kid: string
      readonly signedAt: number
      /** Signed heads that these events were held against. */
      readonly heads: number
      /**
       * Heads of keys that were revoked since, or that were signed after their key was retired, as by a clock that was ahead: they prove
       * nothing, and count as if they were not there.
       */
      readonly ignoredHeads: number
    }
  | {
      readonly ok: false
      readonly fault: AuditFault
      /** Line of the file, from 1; undefined for what is not there. */
      readonly line?: number
      readonly seq?: number
      readonly detail?: string
    }

/** A place of a chain that the gateway signed for. */
export interface SignedPlace {
  readonly chain: string
  readonly seq: number
  readonly hash: string
  readonly kid: string
  readonly signedAt: number
}

type HeadVerdict =
  | { readonly ok: true; readonly place: SignedPlace }
  | {
      readonly ok: false
      readonly reason: string
      /** What became of its key leaves it without worth, which is no sign of a change. */
      readonly isWorthless: boolean
    }

/** Reads a signed head. */
export async function verifyHead(jws: string, keys: KeyDocument): Promise<HeadVerdict> {
  const verdict = await verifyJws(jws, keys, JWS_TYPES.auditHead)
  if (!verdict.ok) {
    const { reason } = verdict
    const isWorthless = reason === 'key_revoked' || reason === 'issued_after_retirement'
    return { ok: false, reason, isWorthless }
  }
  const { chain, seq, hash, iat } = verdict.payload
  if (typeof chain !== 'string' || typeof seq !== 'number' || typeof hash !== 'string')
    return { ok: false, reason: 'malformed', isWorthless: false }
  return { ok: true, place: { chain, seq, hash, kid: verdict.kid, signedAt: Number(iat) } }
}

/** What the first line of an export says of the rest; undefined where it is none. */
export function readOpening(line: string): { readonly chain: string; readonly after: number } | undefined {
  const { type, v, chain, after = 0 } = readLine(line) ?? {}
  if (type !== 'export' || v !== 1 || typeof chain !== 'string') return undefined
  if (typeof after !== 'number' || !Number.isSafeInteger(after) || after < 0) return undefined
  return { chain, after }
}

/** An export that is checked while it is read. */
export interface ExportCheck {
  /** @returns what is wrong with the line; undefined where the next one may come */
  line(raw: string): Promise<Fault | undefined>
  /** Judges the whole. */
  end(): AuditVerdict
}

type Fault = Extract<AuditVerdict, { readonly ok: false }>

/**
 * Begins to check an export. Of each event its hash alone is remembered.
 * @param opening first line
 * @param witnesses places of the same chain that were signed before and kept elsewhere: the export must hold them
 */
export function beginCheck(
  opening: string,
  keys: KeyDocument,
  witnesses: readonly SignedPlace[] = [],
): ExportCheck | Fault {
  const begun = readOpening(opening)
  if (!begun) return { ok: false, fault: 'not_an_export', line: 1 }
  const { chain, after } = begun

  const hashes = createHashes(after)
  const signed: (SignedPlace & { readonly line?: number })[] = [...witnesses]
  let ignoredHeads = 0
  let last = after
  let line = 1
  // Undefined where the export begins in the middle, and no witness names the event before.
  const beginning = after === 0 ? null : witnesses.find(({ seq }) => seq === after)?.hash
  // A later one is as good: its event names all before it, by the hash of the one before.
  const latest = witnesses.reduce((found, { seq }) => Math.max(found, seq), 0)
  if (latest > 0 && latest < after) {
    const detail = `it begins behind event ${after}, and the last that a witness signed for is event ${latest}`
    return { ok: false, fault: 'beginning_missing', line: 1, seq: latest + 1, detail }
  }
  let before = beginning

  return {
    async line(raw) {
      line++
      const document = readLine(raw)
      if (document?.['type'] === 'head' && typeof document['jws'] === 'string') {
        const verdict = await verifyHead(document['jws'], keys)
        if (verdict.ok) signed.push({ ...verdict.place, line })
        else if (verdict.isWorthless) ignoredHeads++
        else return { ok: false, fault: 'head_invalid', line, detail: verdict.reason }
        return undefined
      }
      const event =
        document?.['type'] === 'event' && isObject(document['event']) ? document['event'] : undefined
      if (!event) return { ok: false, fault: 'line_malformed', line }
      const { hash, ...body } = event
      const { seq } = event
      if (typeof seq !== 'number' || typeof hash !== 'string')
        return { ok: false, fault: 'line_malformed', line }
      if (digest(body) !== hash) return { ok: false, fault: 'event_changed', line, seq }
      if (event['chain'] !== chain) return { ok: false, fault: 'event_of_another_chain', line, seq }
      if (seq <= last) return { ok: false, fault: 'event_out_of_order', line, seq }
      if (seq > last + 1)
        return {
          ok: false,
          fault: hashes.size === 0 ? 'beginning_missing' : 'event_missing',
          line,
          seq: last + 1,
        }
      if (before !== undefined && event['prev'] !== before)
        return {
          ok: false,
          fault: 'event_changed',
          line,
          seq,
          detail: 'it does not name the hash of the event before',
        }
      hashes.add(hash)
      last = seq
      before = hash
      return undefined
    },
    end: () => judgeHeads({ chain, after, beginning, last, hashes, signed, ignoredHeads }),
  }
}

/**
 * Checks an export from its first line to its last.
 * @param text JSON lines as `agent-gateway audit export` writes them
 * @param witnesses places of the same chain that were signed before and kept elsewhere: the export must hold them
 */
export async function verifyExport(
  text: string,
  keys: KeyDocument,
  witnesses: readonly SignedPlace[] = [],
): Promise<AuditVerdict> {
  return verifyLines(
    text.split('\n').filter((line) => line.trim() !== ''),
    keys,
    witnesses,
  )
}

/**
 * Does what `verifyExport` does, of lines that come one after the other: no more of a long export than a hash an event is held.
 * @param lines none of them empty
 */
export async function verifyLines(
  lines: AsyncIterable<string> | Iterable<string>,
  keys: KeyDocument,
  witnesses: readonly SignedPlace[] = [],
): Promise<AuditVerdict> {
  let check: ExportCheck | undefined
  for await (const line of lines) {
    if (check === undefined) {
      const begun = beginCheck(line, keys, witnesses)
      if ('ok' in begun) return begun
      check = begun
      continue
    }
    const fault = await check.line(line)
    if (fault) return fault
  }
  return check ? check.end() : { ok: false, fault: 'not_an_export', line: 1 }
}

/** Hashes of events that follow one another, as bytes: a million of them take 32 MB. */
function createHashes(after: number) {
  const slabs: Buffer[] = []
  let size = 0
  return {
    get size() {
      return size
    },
    add(hash: string): void {
      const at = size++ % SLAB
      if (at === 0) slabs.push(Buffer.alloc(SLAB * HASH_BYTES))
      slabs.at(-1)?.write(hash, at * HASH_BYTES, HASH_BYTES, 'base64url')
    },
    get(seq: number): string | undefined {
      const index = seq - after - 1
      if (index < 0 || index >= size) return undefined
      const from = (index % SLAB) * HASH_BYTES
      return slabs[Math.floor(index / SLAB)]?.toString('base64url', from, from + HASH_BYTES)
    },
  }
}
type Hashes = Pick<ReturnType<typeof createHashes>, 'size' | 'get'>
const HASH_BYTES = 32
const SLAB = 4096

function judgeHeads(found: {
  chain: string
  after: number
  beginning: string | null | undefined
  last: number
  hashes: Hashes
  signed: readonly (SignedPlace & { readonly line?: number })[]
  ignoredHeads: number
}): AuditVerdict {
  const { chain, after, beginning, last, hashes, signed, ignoredHeads } = found
  let heads = 0
  for (const { line, seq, hash, ...place } of signed) {
    const at = { seq, ...(line !== undefined && { line }) }
    if (place.chain !== chain)
      return { ok: false, fault: 'head_mismatch', ...at, detail: 'it is of another chain' }
    if (seq > last) return { ok: false, fault: 'end_missing', ...at, seq: last + 1 }
    if (seq < after) continue
    const here = seq === after ? beginning : hashes.get(seq)
    if (here !== undefined && here !== hash) return { ok: false, fault: 'head_mismatch', ...at }
    heads++
  }
  const end = signed.find(({ seq, line }) => seq === last && line !== undefined)
  if (!end) return { ok: false, fault: 'end_unsigned', seq: last }
  const { seq, hash, kid, signedAt } = end
  const events = hashes.size
  const isBeginningWitnessed =
    beginning !== undefined || signed.some(({ seq, line }) => seq > after && line === undefined)
  return {
    ok: true,
    chain,
    events,
    after,
    isBeginningWitnessed,
    seq,
    hash,
    kid,
    signedAt,
    heads,
    ignoredHeads,
  }
}

/** Members of each kind of line, by its type. What else a line says nobody signed for. */
const MEMBERS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['export', ['type', 'v', 'gateway', 'chain', 'after']],
  ['event', ['type', 'event']],
  ['head', ['type', 'jws']],
])

/**
 * A line as exports write them. Of a member that is there twice readers take the one or the other, so that a signature over the last says
 * nothing of what a person sees: such a line is not what was written.
 */
function readLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const document: unknown = JSON.parse(line)
    if (!isObject(document) || JSON.stringify(document) !== line) return undefined
    const members = MEMBERS.get(document['type'])
    return members && Object.keys(document).every((name) => members.includes(name)) ? document : undefined
  } catch {
    return undefined
  }
}

function digest(body: unknown): string | undefined {
  try {
    return digestCanonical(body)
  } catch {
    return undefined
  }
}
