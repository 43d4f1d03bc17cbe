// Settings that people change while the gateway runs: of every replica, and of those that start later.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openRuntimeSettings, runtimeSettingsDocument } from '../../../src/app/runtime-settings.ts'
import type { Platform } from '../../../src/app/platform.ts'
import { createLogger } from '../../../src/lib/log.ts'
import type { DocumentKind, DocumentStore } from '../../../src/store/ports.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Replicas that share their documents. */
function shared() {
  const kept = new Map<string, unknown>()
  const events: { detail?: unknown }[] = []
  let isAway = false
  const documents = {
    async read<T>(kind: DocumentKind<T>) {
      if (isAway) throw new Error('away')
      return { value: kind.parse(kept.get(kind.name) ?? kind.initial) }
    },
    async update<T>(kind: DocumentKind<T>, edit: (value: T) => T) {
      const value = kind.parse(edit(kind.parse(kept.get(kind.name) ?? kind.initial)))
      kept.set(kind.name, value)
      return value
    },
  } as Partial<DocumentStore> as DocumentStore
  const open = async () => {
    const log = createLogger('warn', { write: () => {} })
    const settings = await openRuntimeSettings({
      config: { logLevel: 'warn', rateLimit: undefined },
      documents,
      store: { appendAuditEvents: async (added: readonly object[]) => void events.push(...added) },
      log,
      now: Date.now,
    } as unknown as Platform)
    return { settings, log }
  }
  return { kept, events, open, goAway: (away: boolean) => void (isAway = away) }
}

it('are followed by every replica within two seconds, and by one that starts later', async () => {
  const { open, events } = shared()
  const [one, two] = [await open(), await open()]
  await one.settings.change({ log_level: 'debug', calls_per_minute: 600 }, 'per_1')
  expect([one.log.level, one.settings.callsPerMinute()]).toEqual(['debug', 600])
  expect([two.log.level, two.settings.callsPerMinute()]).toEqual(['warn', undefined])
  await vi.advanceTimersByTimeAsync(2000)
  expect([two.log.level, two.settings.callsPerMinute()]).toEqual(['debug', 600])
  expect((await open()).log.level).toBe('debug')
  expect(events.map(({ detail }) => detail)).toEqual([
    { from: null, to: 'debug' },
    { from: null, to: 600 },
  ])
  await two.settings.change({ log_level: null }, 'per_1')
  await vi.advanceTimersByTimeAsync(2000)
  expect([one.log.level, one.settings.callsPerMinute()]).toEqual(['warn', 600])
})

it('are no event where nothing changed, and stay where they cannot be read for a while', async () => {
  const { open, events, goAway, kept } = shared()
  const { settings, log } = await open()
  await settings.change({ log_level: null, egress_paused: false }, 'per_1')
  expect(events).toEqual([])
  await settings.change({ log_level: 'info' }, 'per_1')
  goAway(true)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(log.level).toBe('info')
  kept.set(runtimeSettingsDocument.name, { log_level: 'error' })
  goAway(false)
  await vi.advanceTimersByTimeAsync(2000)
  expect(log.level).toBe('error')
  settings.close()
  await vi.advanceTimersByTimeAsync(2000)
})

it('never silence a failure, and leave a console usable', () => {
  for (const value of [
    { log_level: 'silent' },
    { log_level: 'fatal' },
    { calls_per_minute: 0 },
    { calls_per_minute: 59 },
  ])
    expect(() => runtimeSettingsDocument.parse(value)).toThrow()
})
