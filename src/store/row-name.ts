import type { CommandName } from './commands/index.ts'

/** What a row is remembered under: the command that finds it, and its arguments, which are one digest, or ids, which hold no space. */
export function rowName(name: CommandName, args: readonly unknown[]): string {
  let text: string = name
  for (const arg of args)
    text += ` ${arg instanceof Uint8Array ? Buffer.from(arg.buffer, arg.byteOffset, arg.byteLength).toString('latin1') : String(arg)}`
  return text
}
