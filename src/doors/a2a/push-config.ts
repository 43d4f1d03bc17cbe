// Where a client wants to be told of a task: what it may ask for, what is kept of it, and what it is shown of that later. What proves to
// the receiver who sends (token, credentials) is sealed at rest and shown to nobody again.
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { toCanonicalJson } from '../../lib/canonical-json.ts'
import { Secret } from '../../lib/secret.ts'
import type { NewPushConfig, PushConfig } from '../../store/ports.ts'
import { absent, invalidFields } from './envelope.ts'
import { redactTokens } from './redact.ts'

/** What the receiver is sent to know its sender by. */
export interface PushProof {
  readonly token?: string | undefined
  readonly credentials?: string | undefined
}

export interface AskedPush {
  /** The client's own name for it. */
  readonly id: string | undefined
  /** Undefined in SendMessage, where there may be no task yet. */
  readonly taskId: string | undefined
  readonly url: string
  readonly scheme: string | undefined
  readonly proof: Secret<PushProof> | undefined
}

/** As clients see it: `TaskPushNotificationConfig` without what is secret. */
export interface WirePushConfig {
  readonly id: string
  readonly taskId: string
  readonly url: string
  readonly authentication?: { readonly scheme: string }
}

/** A header holds neither line breaks nor anything else that does not print. */
const printed = z
  .string()
  .max(4096)
  .regex(/^[!-~]+( [!-~]+)*$/, 'must be printable ASCII')
const absentText = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' || value === null ? undefined : value), schema.optional())

const PushInput = z.object({
  id: absentText(
    z
      .string()
      .max(128)
      .regex(/^[\w.~:@+=-]+$/, 'must be letters, digits and . _ ~ : @ + = -'),
  ),
  taskId: absentText(z.string().max(256)),
  url: z.string().min(1).max(2048),
  token: absentText(printed),
  authentication: absent(
    z.object({
      scheme: absentText(
        z
          .string()
          .max(64)
          .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be an HTTP authentication scheme'),
      ),
      credentials: absentText(printed),
    }),
  ),
})

/**
 * @param at pointer to it in the params
 * @throws {GatewayError} input_invalid naming each field; also for a key of this gateway, which is not to be sent to anybody
 */
export function parsePush(given: unknown, at: string): AskedPush {
  const parsed = PushInput.safeParse(given)
  if (!parsed.success)
    throw invalidFields(
      parsed.error.issues.map(({ path, message }) => ({
        pointer: [at, ...path.map(String)].join('/'),
        message,
      })),
    )
  const { id, taskId, url, token, authentication } = parsed.data
  const { scheme, credentials } = authentication ?? {}
  if (credentials !== undefined && scheme === undefined)
    throw invalidFields([{ pointer: `${at}/authentication/scheme`, message: 'is needed with credentials' }])
  const told = { url, token, 'authentication/credentials': credentials }
  for (const [name, text] of Object.entries(told))
    if (text !== undefined && redactTokens(text) !== text)
      throw invalidFields([
        { pointer: `${at}/${name}`, message: 'holds a key of this gateway, which is never sent to anybody' },
      ])
  const hasProof = token !== undefined || credentials !== undefined
  const proof = hasProof ? new Secret<PushProof>({ token, credentials }) : undefined
  return { id, taskId, url, scheme, proof }
}

export const shownPush = ({ id, taskId, url, scheme }: NewPushConfig): WirePushConfig => ({
  id,
  taskId,
  url,
  ...(scheme !== null && { authentication: { scheme } }),
})

// sealing ------------------------------------------------------------------------------------------------------------

type Bound = Pick<PushConfig, 'taskId' | 'id' | 'url' | 'scheme'>
const IV_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM, bound to the row: a proof is sent to the address that it was given for, or to none. */
export function sealProof(key: KeyObject, proof: Secret<PushProof>, bound: Bound): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(aadOf(bound))
  const text = proof.use((value) => JSON.stringify(value))
  const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return sealed.toString('base64url')
}

/** @throws where the row is not what was sealed, or another key sealed it */
export function openProof(key: KeyObject, sealed: string, bound: Bound): PushProof {
  const bytes = Buffer.from(sealed, 'base64url')
  const iv = bytes.subarray(0, IV_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
  decipher.setAAD(aadOf(bound)).setAuthTag(bytes.subarray(-TAG_BYTES))
  const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()])
  return JSON.parse(text.toString('utf8')) as PushProof
}

const aadOf = ({ taskId, id, url, scheme }: Bound) =>
  Buffer.from(toCanonicalJson({ v: 1, what: 'push', task_id: taskId, id, url, scheme }))
