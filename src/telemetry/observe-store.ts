// The store as it is measured: each command by its name. What it was given and what it answered is told to nobody.
import { GatewayError } from '../core/errors.ts'
import type { Store } from '../store/ports.ts'
import { OTHER } from './labels.ts'
import { secondsSince, type Telemetry } from './port.ts'

/** Names of the semantic conventions. */
const SYSTEMS = { sqlite: 'sqlite', postgres: 'postgresql' } as const satisfies Record<
  Store['engine'],
  string
>

type Method = (...args: unknown[]) => Promise<unknown>

/** Closing and the question for health are no commands. */
const UNOBSERVED: ReadonlySet<string> = new Set(['close', 'health'])

export function observeStore(telemetry: Telemetry, store: Store): Store {
  const system = SYSTEMS[store.engine]
  const observed = Object.entries(store).map(([name, member]) => [
    name,
    typeof member === 'function' && !UNOBSERVED.has(name)
      ? observeCommand(telemetry, { system, name }, member as Method)
      : member,
  ])
  return Object.fromEntries(observed) as Store
}

function observeCommand(
  telemetry: Telemetry,
  { system, name }: { readonly system: string; readonly name: string },
  method: Method,
): Method {
  const labels = { 'db.system.name': system, 'db.operation.name': name }
  return async (...args) => {
    const started = performance.now()
    const span = telemetry.tracing?.start({ name, kind: 'client', labels })
    try {
      const result = await (span ? span.run(() => method(...args)) : method(...args))
      telemetry.record('db.client.operation.duration', secondsSince(started), labels)
      span?.end()
      return result
    } catch (thrown) {
      const failure = thrown instanceof GatewayError ? thrown.code : OTHER
      telemetry.record('db.client.operation.duration', secondsSince(started), {
        ...labels,
        'error.type': failure,
      })
      span?.end(failure)
      throw thrown
    }
  }
}
