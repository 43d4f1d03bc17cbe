// How the event of a change is described: from what the command answered and what it was asked.
import type { Command } from './command.ts'
import type { CommandName, Definitions } from './commands/index.ts'
import type { NewAuditEvent } from './ports/audit.ts'

type ResultOf<K extends CommandName> = Definitions[K] extends (...args: never) => Command<infer T> ? T : never
export type Described = NewAuditEvent | undefined
export type Describe = {
  readonly [K in CommandName]?: (result: ResultOf<K>, ...args: Parameters<Definitions[K]>) => Described
}

export const about = (type: string, id: string) => ({ subject: { type, id } })
