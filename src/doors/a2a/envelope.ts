// The shape of a SendMessage request, checked before anything else happens. Unknown fields are ignored (5.7).
import { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'
import type { Json, WireMessage } from './wire.ts'

const MAX_FIELDS = 20
const Metadata = z.record(z.string(), z.unknown())
const id = z.string().min(1).max(256)
/** ProtoJSON writes an absent field as null or leaves it out. */
export const absent = <T extends z.ZodType>(schema: T) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional()

const Part = z
  .object({
    text: absent(z.string()),
    raw: absent(z.base64()),
    url: absent(z.url()),
    data: z.unknown().optional(),
    mediaType: absent(z.string().max(256)),
    filename: absent(z.string().max(1024)),
    metadata: absent(Metadata),
  })
  .refine(
    (part) =>
      Number(part.text !== undefined) +
        Number(part.raw !== undefined) +
        Number(part.url !== undefined) +
        Number(part.data !== undefined) ===
      1,
    'must hold exactly one of text, raw, url and data',
  )

const Message = z.object({
  messageId: id,
  contextId: absent(z.string().max(256)),
  taskId: absent(z.string().max(256)),
  role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
  parts: z.array(Part).min(1).max(64),
  metadata: absent(Metadata),
  extensions: absent(z.array(z.string().max(1024)).max(64)),
  referenceTaskIds: absent(z.array(z.string().max(256)).max(64)),
})

const SendMessage = z.object({
  message: Message,
  configuration: absent(
    z.object({
      acceptedOutputModes: absent(z.array(z.string().max(256)).max(64)),
      taskPushNotificationConfig: z.unknown().optional(),
      historyLength: absent(z.int().min(0)),
      returnImmediately: absent(z.boolean()),
    }),
  ),
  metadata: absent(Metadata),
})

export interface SendRequest {
  readonly message: WireMessage
  readonly acceptedOutputModes: readonly string[]
  /** As it was sent: push-config.ts reads it. Undefined where nobody wants to be told. */
  readonly push: unknown
  readonly historyLength: number | undefined
  readonly returnImmediately: boolean
  readonly metadata: Json | undefined
}

/** @throws {GatewayError} input_invalid naming each field in A2A's own spelling */
export function parseSendRequest(params: unknown): SendRequest {
  const parsed = SendMessage.safeParse(params)
  if (!parsed.success) {
    const fields = parsed.error.issues.slice(0, MAX_FIELDS).map((issue) => ({
      pointer: issue.path.map((key) => `/${String(key).slice(0, 64)}`).join(''),
      message: issue.message,
    }))
    throw invalidFields(fields)
  }
  const { message, configuration, metadata } = parsed.data
  // An empty id is how ProtoJSON writes "none".
  const { contextId, taskId, ...rest } = message
  return {
    message: { ...rest, ...(contextId ? { contextId } : {}), ...(taskId ? { taskId } : {}) },
    acceptedOutputModes: configuration?.acceptedOutputModes ?? [],
    push: configuration?.taskPushNotificationConfig ?? undefined,
    historyLength: configuration?.historyLength,
    returnImmediately: configuration?.returnImmediately ?? false,
    metadata,
  }
}

/** @returns 400 input_invalid that names the first field; `pointer` is a JSON pointer into the params */
export function invalidFields(fields: { pointer: string; message: string }[]): GatewayError {
  const first = fields[0]
  return new GatewayError(
    'input_invalid',
    `${first?.pointer || 'params'}: ${first?.message ?? 'is not valid'}.`,
    {
      extras: { fields },
    },
  )
}
