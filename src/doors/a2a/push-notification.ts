// One notification as it goes out: the task in the words of its client's version, signed by the gateway.
import { StreamResponse } from '@a2a-js/sdk'
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server'
import { isObject } from '../../lib/json.ts'
import { must } from '../../lib/must.ts'
import { JWS_TYPES } from '../../receipts/types.ts'
import type { Signer } from '../../receipts/ports.ts'
import type { PushConfig } from '../../store/ports.ts'
import type { PushProof } from './push-config.ts'
import { type Json, withHistory, type WireTask } from './wire.ts'

/** Above this a notification says that the task changed, and the client reads it. */
const MAX_BODY_CHARACTERS = 256 * 1024

export interface Notification {
  readonly body: string
  readonly headers: readonly (readonly [string, string])[]
}

/**
 * The state of the task now, without its history: that is what its client said. The signature is a JWS with the body left out (RFC 7515,
 * appendix F). Its header says for whom it is, of which task, when, and, in `jti`, which repetitions are one notification.
 */
export function writeNotification(
  config: PushConfig,
  { task, revision }: { task: WireTask; revision: number },
  proof: PushProof,
  parts: { readonly signer: Signer; readonly baseUrl: string; readonly now: () => number },
): Notification {
  const { signer, baseUrl } = parts
  const { wire, taskId, id, url, scheme } = config
  const jws = signer.sign(JWS_TYPES.push, contentOf(task, wire), {
    jku: `${baseUrl}/.well-known/jwks.json`,
    claims: {
      iss: baseUrl,
      aud: new URL(url).origin,
      sub: taskId,
      jti: `${taskId}.${revision}.${id}`,
      iat: Math.floor(parts.now() / 1000),
    },
  })
  const [head, payload, signature] = jws.split('.')
  const body = Buffer.from(must(payload, 'the payload of a signature'), 'base64url').toString('utf8')
  const { token, credentials } = proof
  return {
    body,
    headers: [
      ['content-type', wire === '1.0' ? 'application/a2a+json' : 'application/json'],
      ['user-agent', 'agent-gateway/5 (a2a notifications)'],
      ['a2a-version', wire],
      ['a2a-notification-signature', `${head}..${signature}`],
      ...(scheme !== null && credentials !== undefined
        ? [['authorization', `${scheme} ${credentials}`] as const]
        : []),
      // The specification names no header; SDKs read one or the other.
      ...(token === undefined
        ? []
        : ([
            ['x-a2a-notification-token', token],
            ['a2a-notification-token', token],
          ] as const)),
    ],
  }
}

function contentOf(task: WireTask, wire: PushConfig['wire']): Json {
  const { id: taskId, contextId, status } = task
  const { message: _said, ...bare } = status
  const forms: readonly Json[] = [
    { task: withHistory(task, 0) },
    { statusUpdate: { taskId, contextId, status } },
    { statusUpdate: { taskId, contextId, status: bare } },
  ]
  const fits = forms.find((form) => JSON.stringify(form).length <= MAX_BODY_CHARACTERS)
  const content = must(fits ?? forms.at(-1), 'a form without what the task says')
  return wire === '1.0' ? content : legacyForm(content)
}

/** 0.3 sends the task itself. */
function legacyForm(content: Json): Json {
  const { body } = new V03PushNotificationSerializer().serialize(StreamResponse.fromJSON(content))
  const parsed: unknown = JSON.parse(body)
  if (!isObject(parsed)) throw new Error('a notification of 0.3 is an object')
  return parsed
}
