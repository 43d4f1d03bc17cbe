// The interfaces between the parts of an outcome. Types only.
//
//   request -> claims -> one job (resolve) -> prepared job: normalised request, digest, price
//   prepared job -> gather: every source in parallel, each with its fallback and its own deadline
//                     reader:   one address -> bytes, through the gateway's safe outbound path, or a reason
//                     analyser: bytes -> data, in a process of its own with a budget, or a reason
//                -> the capability puts the readings together: duplicates, groups, digest
//                -> result, digests, cost; without one usable source it throws and nothing is charged
import type { PageInput, Reading } from './reading.ts'
import type { OutcomeId, OutcomeResult } from '../../schemas/outcome.ts'
import type {
  Coverage,
  RedirectHop,
  RedirectRule,
  RetrievedSource,
  SourceReason,
} from '../../schemas/sources.ts'
import type { ClaimField } from './claims.ts'
import type { Execution } from '../../schemas/outcome.ts'
import type { Terms } from '../core/charging.ts'
import type { CallDoor } from '../core/context.ts'
import type { Progress } from '../core/progress.ts'

// jobs -------------------------------------------------------------------------------------------------------------

/** The part of a request that a capability reads. */
export interface CapabilityUse {
  readonly id: OutcomeId
  /** Fields it cannot work without: at least one of them. Empty where it has sources of its own. */
  readonly needs: readonly ClaimField[]
  /** Fields it has a use for. Another source field is a conflict, another option is ignored and reported. */
  readonly uses: readonly ClaimField[]
}

/** A capability as it runs: adding one is adding an entry in index.ts and a descriptor. */
export interface Capability extends CapabilityUse {
  /**
   * Turns claims into the one normalised request. Pure.
   * @throws {GatewayError} input_invalid and its kin for what can be told from the request alone; target_invalid or
   * target_blocked when no source could be reached whatever happens
   */
  prepare(claims: ReadonlyMap<ClaimField, unknown>, options: { isDemo: boolean }): PreparedJob
}

export interface PreparedJob {
  /** The request as shown back in `intent.request` and as quote and payment are bound to it: JSON, defaults filled in. */
  readonly request: Readonly<Record<string, unknown>>
  /**
   * @throws {GatewayError} sources_unusable when there is nothing to deliver; then nothing is charged
   */
  run(context: RunContext): Promise<Delivered>
}

export interface RunContext {
  readonly signal: AbortSignal
  /** Reads the sample pages instead of the world where the job is a demo. */
  readonly gather: Gather
  readonly analyser: Analyser
}

export interface Delivered {
  readonly result: OutcomeResult
  /** The digest of the HTML that was sent; null where sources were fetched. */
  readonly sourceSha256: string | null
  readonly textSha256: string | null
  readonly sources: readonly { readonly url: string; readonly bytes: number; readonly sha256: string }[]
  /** JSON Pointers into `result`, with the SHA-256 of the string found there. */
  readonly parts: readonly { readonly pointer: string; readonly sha256: string }[]
  readonly deterministic: boolean
}

// sources ----------------------------------------------------------------------------------------------------------

/** A source as it was asked for. Whether an address is any good is found out when it is read. */
export interface SourceRequest {
  /** Canonical where it is a target, else as written. */
  readonly url: string
  /** The list holds at most one. */
  readonly fallbacks: readonly string[]
}

/** The kind of document that the Accept header asks for. */
export type Wanted = 'page' | 'product' | 'feed' | 'robots'

/** Headers of an answer that say how it may be used. */
export interface UsageHeaders {
  /** X-Robots-Tag, one entry a header. */
  readonly robots: readonly string[]
  readonly tdmReservation: string | null
  readonly tdmPolicy: string | null
}

/** An answer of one address, decompressed and cut at the cap. */
export interface SourceAnswer {
  /** Always 2xx. */
  readonly status: number
  readonly contentType: string | null
  readonly contentLanguage: string | null
  readonly etag: string | null
  readonly lastModified: string | null
  /** Left out where the answer says nothing of it. */
  readonly usage?: UsageHeaders
  /** Nobody writes to it: what is kept of an answer and everybody who reads it have the same bytes. */
  readonly body: Buffer
  /** The source is longer than what was read. */
  readonly isCut: boolean
  /** Lower-case hex SHA-256 of `body`. */
  readonly sha256: string
  /** The time at which the source last said so, in milliseconds: a 304 counts. */
  readonly retrievedAt: number
}

/** An answer as one request got it, from the source or out of the cache. */
export interface FetchedSource extends SourceAnswer {
  readonly url: string
  readonly ageSeconds: number
  readonly cache: RetrievedSource['cache']
}

export interface SourceFailure {
  readonly ok: false
  readonly reason: SourceReason
  /** A sentence for people: what happened and what to send instead. It quotes no upstream and no library. */
  readonly detail: string
  readonly httpStatus?: number | undefined
  readonly redirectTo?: string | undefined
}

/** An address that an answer sends its reader on to. */
export interface Lead {
  readonly kind: RedirectHop['kind']
  readonly url: string
}

export interface SourceReader {
  /**
   * One address, once, without following redirects. Never throws.
   * @param options.maxAgeSeconds a stored answer may be that old; 0 asks the source again
   * @param options.timeoutMs for name, connection and answer together
   */
  read(
    url: string,
    options: { wanted: Wanted; maxAgeSeconds: number; timeoutMs: number; signal: AbortSignal },
  ): Promise<{ readonly ok: true; readonly source: FetchedSource } | SourceFailure>
}

/** A usable source with what was read out of it. */
export interface Gathered<T> {
  /** Index in `coverage.sources`. */
  readonly source: number
  readonly fetched: FetchedSource
  /** The retrieval as the coverage tells it. */
  readonly retrieved: RetrievedSource
  readonly reading: Reading<T> & { readonly ok: true }
}

export type Gather = <T>(
  sources: readonly SourceRequest[],
  options: {
    wanted: Wanted
    maxAgeSeconds: number
    /** The redirects that the buyer allows. */
    redirects: RedirectRule
    signal: AbortSignal
    progress?: Progress | undefined
  },
  /** Decides whether bytes are usable: what is not sends the reader to the fallback. */
  analyse: (input: PageInput) => Promise<Reading<T>>,
) => Promise<{ readonly coverage: Coverage; readonly usable: readonly Gathered<T>[] }>

// analysis ---------------------------------------------------------------------------------------------------------

export type AnalysisResult<T> =
  | { readonly ok: true; readonly value: T }
  /** The work was cut off, or failed on this very input. */
  | { readonly ok: false; readonly reason: 'budget_exceeded' | 'unreadable' }

/**
 * Pure functions of `analyses.ts` by name, run in another process: a page made to be slow is cut off and blocks nobody.
 * @throws {GatewayError} overloaded when too many are waiting
 */
export interface Analyser {
  run<K extends keyof Analyses>(
    name: K,
    input: Parameters<Analyses[K]>[0],
  ): Promise<AnalysisResult<Awaited<ReturnType<Analyses[K]>>>>
  close(): Promise<void>
}

/** How busy the reading of pages is, for whoever looks after the gateway. */
export interface AnalyserLoad {
  readonly processes: number
  readonly busy: number
  /** Analyses that no process has yet. */
  readonly waiting: number
}

export type Analyses = typeof import('./analyses.ts').analyses

/** Work behind `gateway_execute`. */
export interface Outcomes {
  /** Guesses what a request that does not match the schema was about, with one that works. Never throws. */
  guide(input: unknown): Record<string, unknown>
  /**
   * The job of a request, understood once: what it costs and how it is run.
   * @param input of gateway_execute, checked against its schema; what is wrapped inside it is checked here
   * @throws {GatewayError} intent_unknown and outcome_not_live with repair guidance, input_conflict,
   * input_missing_field, input_wrong_type, input_unknown_property, input_invalid; target_invalid and target_blocked when
   * no source could ever be reached
   */
  plan(input: Readonly<Record<string, unknown>>): PlannedOutcome
}

export interface PlannedOutcome {
  /** Null where the job is free. */
  readonly charge: Terms | null
  /** @throws {GatewayError} sources_unusable when there is nothing to deliver */
  run(context: {
    /** REST unless said. */
    readonly door?: CallDoor | undefined
    readonly signal: () => AbortSignal
    readonly claimId?: string | undefined
    readonly progress?: Progress | undefined
  }): Promise<Execution>
}
