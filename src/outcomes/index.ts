// The story of gateway_execute: read the claims, resolve them to one job, run it, add digests and cost.
import { toUSVString } from 'node:util'
import { formatAtomic } from '../../schemas/money.ts'
import type { Execution, OutcomeId, PreviewResult } from '../../schemas/outcome.ts'
import { GatewayError } from '../errors.ts'
import type { Outcomes } from '../services.ts'
import { type ClaimField, readClaims } from './claims.ts'
import { findDescriptor } from './descriptors.ts'
import { digestJson, digestText } from './digest.ts'
import { cutText, NORMALISER } from './extract/text.ts'
import { extractPreview } from './preview.ts'
import { toRefusal } from './repair.ts'
import { type CapabilityUse, resolveJob } from './resolve.ts'
import { SAMPLE_BASE_URL, SAMPLE_HTML } from './sample.ts'

interface Delivered {
  readonly result: PreviewResult
  /** What the source digest is taken over. */
  readonly source: string
  readonly text: string
  /** Normalised request as shown back; large sources stand as digests. */
  readonly request: Record<string, unknown>
}

/** A capability as it runs: adding one is adding an entry here and a descriptor. */
interface Capability extends CapabilityUse {
  run(
    claims: ReadonlyMap<ClaimField, unknown>,
    context: { isDemo: boolean; signal: AbortSignal },
  ): Promise<Delivered>
}

const preview: Capability = {
  id: 'extract-preview',
  needs: ['html'],
  uses: ['html', 'url'],
  async run(claims, { isDemo }) {
    // Half a surrogate pair has no UTF-8: as a digest would, the text takes U+FFFD for it.
    const html = isDemo ? SAMPLE_HTML : toUSVString(String(claims.get('html')))
    const baseUrl = isDemo ? SAMPLE_BASE_URL : (claims.get('url') as string | undefined)
    const result = extractPreview({ html, baseUrl, isSample: isDemo })
    return {
      result,
      source: html,
      text: result.document.text,
      request: {
        source: result.source.origin,
        html_sha256: digestText(html),
        html_characters: result.source.characters,
        base_url: baseUrl !== undefined && /^https?:/i.test(baseUrl) ? baseUrl : null,
      },
    }
  },
}

const MAX_ECHO_CHARACTERS = 3000
const capabilities: readonly Capability[] = [preview]

export function createOutcomes(): Outcomes {
  return {
    async execute(input, { signal }) {
      const reading = readClaims(input)
      if (!reading.ok)
        throw new GatewayError(
          reading.code,
          `${reading.detail} The fields are in the schema of gateway_execute.`,
          {
            extras: { fields: reading.fields },
          },
        )
      const job = resolveJob(reading.claims, capabilities)
      if (!job.ok) throw toRefusal(job, reading.claims)
      const capability = capabilities.find(({ id }) => id === job.capability)!
      const delivered = await capability.run(job.claims, { isDemo: job.kind === 'demo', signal })
      return {
        ok: true,
        intent: {
          kind: job.kind,
          capability: job.capability,
          text: job.words === null ? null : cutText(toUSVString(job.words), MAX_ECHO_CHARACTERS),
          read_from: [...job.readFrom],
          request: delivered.request,
          ignored: [...job.ignored],
        },
        capability: job.capability,
        result: delivered.result,
        verification: {
          algorithm: 'sha-256',
          encoding: 'hex',
          source_sha256: digestText(delivered.source),
          text_sha256: digestText(delivered.text),
          result_sha256: digestJson(delivered.result),
          normaliser: NORMALISER,
          deterministic: true,
        },
        cost: costOf(job.capability),
        receipt: null,
      }
    },
  }
}

function costOf(id: OutcomeId): Execution['cost'] {
  const amount = findDescriptor(id)!.amountAtomic
  return {
    amount_atomic: amount.toString(),
    amount: formatAtomic(amount),
    currency: 'USDC',
    decimals: 6,
    paid: amount > 0n,
  }
}
