// Settings that people change while the gateway runs. They are a document beside the policies, which every replica looks at every two seconds; the
// pause of outbound requests is the one of the egress policy, which every attempt reads. Each change is written into the audit log, with
// who made it.
import { z } from 'zod'
import { LOG_LEVELS, type RuntimeSettings } from '../../schemas/settings.ts'
import type { RuntimeSettingsService } from '../../tools/services.ts'
import { egressPolicyDocument } from '../egress/policy.ts'
import { currentActor } from '../lib/acting.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { DocumentKind } from '../store/ports.ts'
import { INSTALLATION_CHAIN } from '../store/ports/audit.ts'
import type { Platform } from './platform.ts'

const Document = z.strictObject({
  log_level: z.enum(LOG_LEVELS).nullable().default(null),
  calls_per_minute: z.int().min(60).max(1_000_000).nullable().default(null),
  changed_at: z.string().nullable().default(null),
  changed_by: z.string().max(64).nullable().default(null),
})
type Document = z.infer<typeof Document>

export const runtimeSettingsDocument: DocumentKind<Document> = {
  name: 'runtime-settings',
  parse: (value) => Document.parse(value),
  initial: Document.parse({}),
}

const LOOK_MS = 2000

export interface OpenRuntimeSettings extends RuntimeSettingsService {
  /** Calls a minute of one caller on one tool; undefined: by tool, 0: no limit. */
  callsPerMinute(): number | undefined
  close(): void
}

type Parts = Pick<Platform, 'config' | 'documents' | 'store' | 'log' | 'now'>

/** Applies what was set before, and what is set from now on here or on another replica. */
export async function openRuntimeSettings(parts: Parts): Promise<OpenRuntimeSettings> {
  const { config, documents, store, log, now } = parts
  let current = runtimeSettingsDocument.initial
  let reported: string | undefined

  async function look(): Promise<void> {
    const { value, problem } = await documents.read(runtimeSettingsDocument)
    if (problem !== undefined && problem !== reported) log.warn(problem)
    reported = problem
    apply(value)
  }

  function apply(next: Document): void {
    if (next.log_level !== current.log_level) log.level = next.log_level ?? config.logLevel
    current = next
  }

  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  const later = () => {
    timer = setTimeout(() => {
      look()
        .catch((err: unknown) => log.warn({ err }, 'the settings could not be read; it is tried again'))
        .finally(() => isClosed || later())
    }, LOOK_MS).unref()
  }
  await look()
  later()

  async function read(): Promise<RuntimeSettings> {
    const [{ value }, { value: egress }] = await Promise.all([
      documents.read(runtimeSettingsDocument),
      documents.read(egressPolicyDocument),
    ])
    return {
      ...value,
      egress_paused: egress.paused,
      configured: { log_level: config.logLevel, calls_per_minute: config.rateLimit ?? null },
    }
  }

  return {
    read,
    async change({ egress_paused, ...wanted }, by) {
      const before = await read()
      const at = now()
      if (egress_paused !== undefined && egress_paused !== before.egress_paused)
        await documents.update(egressPolicyDocument, (policy) => ({ ...policy, paused: egress_paused }))
      const set = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined))
      if (Object.keys(set).length > 0)
        apply(
          await documents.update(runtimeSettingsDocument, (value) => ({
            ...value,
            ...set,
            changed_at: toTimestamp(at),
            changed_by: by,
          })),
        )
      const after = await read()
      const changed = (['egress_paused', 'log_level', 'calls_per_minute'] as const).filter(
        (name) => after[name] !== before[name],
      )
      if (changed.length > 0)
        await store.appendAuditEvents(
          changed.map((name) => ({
            chain: INSTALLATION_CHAIN,
            at,
            event: 'setting.changed',
            subject: { type: 'setting', id: name },
            detail: { from: before[name], to: after[name] },
          })),
          currentActor(),
        )
      return after
    },
    callsPerMinute: () => current.calls_per_minute ?? config.rateLimit,
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
