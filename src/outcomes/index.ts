// The story of gateway_execute: read the claims, resolve them to one job, say what it costs, run it, add digests and cost.
import { toUSVString } from 'node:util'
import { formatAtomic } from '../../schemas/money.ts'
import type { DocumentFormat } from '../../schemas/execute-request.ts'
import type { Cost, Execution } from '../../schemas/outcome.ts'
import type { RobotsPolicy } from '../../schemas/sources.ts'
import type { Sender } from '../egress/ports.ts'
import { parseTarget } from '../egress/target.ts'
import type { Terms } from '../core/charging.ts'
import { GatewayError } from '../core/errors.ts'
import { digestCanonical } from '../lib/canonical-json.ts'
import type { Targets } from '../outbound/targets.ts'
import type { Quotable, Quotes } from '../payments/quotes.ts'
import { createScheduler, type Scheduler } from '../lib/scheduler.ts'
import { createFeedDigest } from './capabilities/feed-digest.ts'
import { extractPreview } from './capabilities/extract-preview.ts'
import { productOffers } from './capabilities/product-offers.ts'
import { webExtraction } from './capabilities/web-extraction.ts'
import { defaultFormat, inFormat } from './chosen-format.ts'
import { readClaims } from './claims.ts'
import { type CapabilityFacts, descriptorsIn, findDescriptor, paidExample } from './descriptors.ts'
import { digestJson, digestJsonInTurns } from './digest.ts'
import { cutText, NORMALISER } from './extract/text.ts'
import { readLeftover } from './leftover.ts'
import type {
  Analyser,
  Capability,
  Delivered,
  Outcomes,
  PlannedOutcome,
  PreparedJob,
  SourceReader,
} from './ports.ts'
import { listUndone, toGuidance, toRefusal } from './repair.ts'
import { type Resolution, resolveJob } from './resolve.ts'
import type { RobotsRules } from './sources/attempt.ts'
import { checkSources } from './sources/address.ts'
import { createGather, type GatherLimits } from './sources/gather.ts'
import { createRobots } from './sources/robots.ts'
import { createReader } from './sources/reader.ts'
import { requestedSources } from './sources/requested.ts'
import { createSampleReader } from './sources/sample.ts'
import { tellUnderstanding } from './understanding.ts'

export interface OutcomeParts {
  readonly targets: Targets
  readonly sender: Sender
  readonly analyser: Analyser
  readonly quotes: Pick<Quotes, 'accept'>
  readonly baseUrl: string
  /** Ports that sources may be on, and whether the sample site may be one. */
  readonly rules: { readonly ports: readonly number[]; readonly allowSandboxName: boolean }
  /** Feeds of a digest that names none. */
  readonly feedSources: readonly string[]
  readonly now: () => number
  /** Of sources, in place of the product's; for tests. */
  readonly limits?: Partial<GatherLimits> | undefined
  /** What follows from what sites say about automatic readers; `off` asks nobody. */
  readonly robots?: RobotsPolicy | undefined
  /** For what a site says, in milliseconds; for tests. */
  readonly robotsMs?: number | undefined
  /** The page about this gateway that its User-Agent names. */
  readonly about?: string | undefined
}

const MAX_ECHO_CHARACTERS = 3000
/** Name of the tool that a quote is for. */
const TOOL = 'gateway_execute'
const MAINNET = 'eip155:8453'
const TESTNET = 'eip155:84532'

interface Job {
  readonly resolution: Resolution & { readonly ok: true }
  /** Facts that the catalogue holds about its capability. */
  readonly descriptor: CapabilityFacts
  readonly prepared: PreparedJob
  /** 0 where it is free. */
  readonly amountAtomic: bigint
  /** CAIP-2; null where it is free. */
  readonly network: string | null
}

/** Results that are bought as such: claims are understood, priced, fetched, analysed and evidenced. */
export function createOutcomes(parts: OutcomeParts): Outcomes {
  const { analyser, now } = parts
  const capabilities: readonly Capability[] = [
    extractPreview,
    webExtraction,
    productOffers,
    createFeedDigest({ defaults: parts.feedSources }),
  ]
  const live = {
    uses: capabilities,
    descriptors: descriptorsIn(parts.rules.allowSandboxName ? 'sandbox' : 'production'),
    isTarget: (url: string) => parseTarget(url, parts.rules).ok,
  }
  const reader = createReader(parts)
  const common = { rules: parts.rules, now, ...(parts.limits && { limits: parts.limits }) }
  const gather = createGather({ ...common, reader, robots: openRobots(parts, reader) })
  // A megabyte takes ten milliseconds as canonical JSON, and several buyers may be waiting for one.
  const digests = createScheduler(1)
  const gatherSamples = createGather({ ...common, reader: createSampleReader(now) })

  function prepare(input: Readonly<Record<string, unknown>>): Job {
    const reading = readClaims(input)
    if (!reading.ok)
      throw new GatewayError(
        reading.code,
        `${reading.detail} The fields are in the schema of gateway_execute. \`repair.example\` is a request that works as it stands.`,
        { extras: { fields: reading.fields, repair: guide(input) } },
      )
    const resolution = resolveJob(reading.claims, capabilities)
    if (!resolution.ok) throw toRefusal(resolution, reading.claims, live)
    const capability = capabilities.find(({ id }) => id === resolution.capability)
    const descriptor = findDescriptor(resolution.capability)
    if (!capability || !descriptor) throw new Error(`nothing does ${resolution.capability}`)
    const isDemo = resolution.kind === 'demo'
    const prepared = capability.prepare(resolution.claims, { isDemo })
    const amountAtomic = isDemo ? 0n : descriptor.amountAtomic
    // A free job reads what was sent, or samples: no source is checked.
    if (amountAtomic > 0n) checkSources(requestedSources(resolution.claims), parts.rules)
    const network = amountAtomic === 0n ? null : resolution.testnet ? TESTNET : MAINNET
    return { resolution, descriptor, prepared, amountAtomic, network }
  }

  function guide(input: unknown): Record<string, unknown> {
    const claims = readLeftover(input)
    return toGuidance(resolveJob(claims, capabilities), claims, live)
  }

  /** The same for every request of a capability: what a challenge says is put together once. */
  const shownOf = (facts: CapabilityFacts, testnet: boolean) => ({
    key: `${facts.id} ${testnet}`,
    description: facts.description,
    example: {
      ...paidExample(facts, parts.rules.allowSandboxName ? 'sandbox' : 'production'),
      ...(testnet && { testnet }),
    },
  })

  return {
    guide,

    plan(input) {
      const job = prepare(input)
      return { charge: chargeOf(job), run: (context) => run(job, context) }
    },
  }

  /** Null where the job is free. */
  function chargeOf({ resolution, descriptor, prepared, amountAtomic, network }: Job): Terms | null {
    if (network === null) return null
    const { capability, testnet } = resolution
    const request = { capability, ...prepared.request, network }
    const quotable: Quotable = {
      tool: TOOL,
      request,
      shorter: { capability, network },
      digest: digestCanonical(request),
      network,
      amountAtomic,
    }
    return {
      amountAtomic,
      networks: [network],
      shown: shownOf(descriptor, testnet),
      understood: () => tellUnderstanding(resolution, descriptor),
      requestDigest: quotable.digest,
      quote: (presented, room) => parts.quotes.accept(quotable, presented, room),
    }
  }

  async function run(
    job: Job,
    { door = 'rest', signal, claimId, progress }: Parameters<PlannedOutcome['run']>[0],
  ): Promise<Execution> {
    const { resolution, prepared } = job
    const read = resolution.kind === 'demo' ? gatherSamples : gather
    const made = await prepared.run({
      signal: signal(),
      analyser,
      gather: (sources, options, analyse) => read(sources, { ...options, progress }, analyse),
    })
    const format = resolution.claims.get('format') as DocumentFormat | undefined
    const delivered = inFormat(made, format ?? defaultFormat(door))
    return {
      ok: true,
      intent: {
        kind: resolution.kind,
        capability: resolution.capability,
        text: resolution.words === null ? null : cutText(toUSVString(resolution.words), MAX_ECHO_CHARACTERS),
        read_from: [...resolution.readFrom],
        request: prepared.request,
        ignored: [...resolution.ignored],
        left_out: listUndone(resolution.leftOut),
      },
      capability: resolution.capability,
      result: delivered.result,
      verification: await verificationOf(prepared, delivered, digests),
      cost: costOf(job, claimId, parts),
      receipt: null,
    }
  }
}

/** Nothing where the operator asks nobody. */
function openRobots(
  { robots: policy = 'off', robotsMs, analyser, now }: OutcomeParts,
  reader: SourceReader,
): RobotsRules | undefined {
  return policy === 'off'
    ? undefined
    : { policy, ...createRobots({ reader, analyser, now, timeoutMs: robotsMs }) }
}

const verificationOf = async (
  { request }: PreparedJob,
  delivered: Delivered,
  scheduler: Scheduler,
): Promise<Execution['verification']> => ({
  algorithm: 'sha-256',
  encoding: 'hex',
  source_sha256: delivered.sourceSha256,
  text_sha256: delivered.textSha256,
  result_sha256: await digestJsonInTurns(delivered.result, scheduler),
  request_sha256: digestJson(request),
  sources: [...delivered.sources],
  parts: [...delivered.parts],
  normaliser: NORMALISER,
  deterministic: delivered.deterministic,
})

function costOf(
  { amountAtomic, network }: Job,
  claimId: string | undefined,
  { baseUrl, rules }: Pick<OutcomeParts, 'baseUrl' | 'rules'>,
): Cost {
  return {
    amount_atomic: amountAtomic.toString(),
    amount: formatAtomic(amountAtomic),
    currency: 'USDC',
    decimals: 6,
    paid: amountAtomic > 0n,
    network,
    // Where the sample site may be a source, money is a sample, too.
    revenue: network === MAINNET && !rules.allowSandboxName,
    settlement:
      claimId === undefined
        ? null
        : { scheme: 'exact', claim_id: claimId, url: `${baseUrl}/v1/payments/${claimId}` },
  }
}
