// Push notification configurations as 0.3 spells them, checked before the SDK translates them: what it does not expect there it answers
// as a failure of ours, and of several schemes it writes a line to the console, in the words of whoever sent them.
import { z } from 'zod'
import { isObject } from '../../lib/json.ts'
import { absent, invalidFields } from './envelope.ts'

const LegacyPush = z.looseObject({
  url: z.string(),
  id: absent(z.string()),
  token: absent(z.string()),
  authentication: absent(
    z.looseObject({
      // 1.0 knows one, and the first of a list is the one that its client likes best.
      schemes: z
        .array(z.string())
        .min(1)
        .max(16)
        .transform((schemes) => schemes.slice(0, 1)),
      credentials: absent(z.string()),
    }),
  ),
})

/**
 * The params of a method of 0.3 with what they say of push notifications in the one form that the SDK translates.
 * @throws {GatewayError} input_invalid naming each field
 */
export function checkLegacyPush(method: string, params: unknown): unknown {
  if (!isObject(params)) return params
  if (method === 'tasks/pushNotificationConfig/set')
    return {
      ...params,
      pushNotificationConfig: read(params['pushNotificationConfig'], '/pushNotificationConfig'),
    }
  const { configuration } = params
  if (!isObject(configuration)) return params
  const given = configuration['pushNotificationConfig'] ?? undefined
  const checked = given === undefined ? given : read(given, '/configuration/pushNotificationConfig')
  return { ...params, configuration: { ...configuration, pushNotificationConfig: checked } }
}

function read(given: unknown, at: string) {
  const parsed = LegacyPush.safeParse(given)
  if (parsed.success) return parsed.data
  throw invalidFields(
    parsed.error.issues.map(({ path, message }) => ({
      pointer: [at, ...path.map(String)].join('/'),
      message,
    })),
  )
}
