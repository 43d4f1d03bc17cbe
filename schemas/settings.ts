import { z } from 'zod'
import { Timestamp } from './http.ts'

/** Levels of the log that may be chosen while the gateway runs: never so few that a failure is not in it. */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const

const logLevel = z.enum(LOG_LEVELS)
/** Below this a console with a few pages open would lock its own people out. */
const callsPerMinute = z.int().min(60).max(1_000_000)

/** The part of the settings that is asked for; what is left out stays. */
export const settingsChange = {
  egress_paused: z
    .boolean()
    .optional()
    .describe('true: every outbound request is refused with `egress_paused` until it is false again'),
  log_level: logLevel.nullish().describe('null: as GATEWAY_LOG_LEVEL says'),
  calls_per_minute: callsPerMinute
    .nullish()
    .describe('Calls of one caller on one tool. null: as GATEWAY_RATE_LIMIT says'),
}

/** What may be changed without a restart, as it is now. */
export const RuntimeSettings = z.strictObject({
  egress_paused: z.boolean(),
  log_level: logLevel.nullable().describe('null: as configured'),
  calls_per_minute: callsPerMinute.nullable().describe('null: as configured'),
  configured: z.strictObject({
    log_level: z.string(),
    calls_per_minute: z.int().nullable().describe('null: by tool; 0: no limit'),
  }),
  changed_at: Timestamp.nullable(),
  changed_by: z.string().nullable().describe('Id of the person or key'),
})
export type RuntimeSettings = z.infer<typeof RuntimeSettings>
