// The gateway's word that a sample scored what it scored, for a picture on other people's pages. It stands in the picture's address, so
// nothing is stored. It says what it is of, and names no host: whoever pastes a sample chooses the target in it.
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { ProtocolName, type TestBadge, TestReport } from '../../schemas/commerce.ts'
import { digestCanonical } from '../lib/canonical-json.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { KeyRing } from './key-ring.ts'
import type { Signer } from './ports.ts'
import { JWS_TYPES } from './types.ts'

/** Programs change, and a score that nobody renews is that of an older one. */
const DAYS_VALID = 90
const DAY_SECONDS = 86_400
/** Ours have about 900 characters. */
const MAX_CHARACTERS = 4096

const Statement = z.object({
  iat: z.int(),
  exp: z.int(),
  environment: z.string().optional(),
  /** Nothing that this gateway looked at itself. */
  subject: z.literal('pasted_sample'),
  protocol: ProtocolName,
  ...TestReport.pick({ score: true, level: true, ruleset_version: true, report_hash: true }).shape,
  /** base64url SHA-256 over the RFC 8785 form of `{"salt", "sample"}`. */
  sample_digest: z.string(),
})
export type TestStatement = z.infer<typeof Statement>

export interface TestBadges {
  /**
   * @param report of the sample, which has to be applicable
   * @param sample as it was sent
   * @throws {Error} where the sample has no RFC 8785 form
   */
  issue(report: TestReport, sample: unknown): TestBadge
  /** What an address says; undefined unless this gateway signed it with a key that proves it. The time is not judged. */
  read(statement: string): TestStatement | undefined
}

/** Makes and reads the statements of badges. */
export function createTestBadges(parts: {
  readonly signer: Signer & Pick<KeyRing, 'verifyOwn'>
  readonly addresses: { readonly baseUrl: string; readonly siteUrl: string }
  readonly now: () => number
}): TestBadges {
  const { signer, addresses, now } = parts
  return {
    issue({ protocol, score, level, ruleset_version, report_hash }, sample) {
      const iat = Math.floor(now() / 1000)
      const exp = iat + DAYS_VALID * DAY_SECONDS
      // Without the salt everybody who sees the badge could try what the sample holds: a card number is soon guessed.
      const salt = randomBytes(16).toString('base64url')
      const sample_digest = digestCanonical({ salt, sample })
      const statement = signer.sign(JWS_TYPES.testReport, {
        iss: addresses.baseUrl,
        iat,
        exp,
        subject: 'pasted_sample',
        protocol,
        score,
        level,
        ruleset_version,
        report_hash,
        sample_digest,
      })
      return {
        url: `${addresses.siteUrl}/badges/${statement}`,
        proof_url: `${addresses.siteUrl}/verify#jws=${statement}`,
        sample_digest,
        salt,
        issued_at: toTimestamp(iat * 1000),
        expires_at: toTimestamp(exp * 1000),
      }
    },
    read(statement) {
      if (statement.length > MAX_CHARACTERS) return undefined
      const said = Statement.safeParse(signer.verifyOwn(statement, JWS_TYPES.testReport))
      return said.success ? said.data : undefined
    },
  }
}
