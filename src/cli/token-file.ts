// Tokens that are shown once: to stdout, or into a new file that only its owner reads.
import type { Command } from 'commander'
import { CommandFailure, Exit } from './exit.ts'
import { printJson, printLine, printRecord, type Row } from './output.ts'
import { codeOf, reserveFile } from './reserved-file.ts'

/** Adds `--out`, which `deliverToken` obeys. */
export const addOutOption = (command: Command): Command =>
  command.option('--out <file>', 'put the token into this new file (0600) instead of printing it')

export interface TokenKind {
  /** Member of the answer that holds the token. */
  readonly member: string
  /** What to do about what was made where its token is lost: a sentence that names it. */
  readonly ifLost: (made: Row) => string
}

/**
 * @param make asks the gateway; not called when the file cannot be made or has no room, so that no token is lost
 * @param reserve takes the room for the file
 * @throws {CommandFailure} that names what was made where its token could not be kept
 */
export async function deliverToken(
  options: { readonly out?: string; readonly json?: boolean },
  { member, ifLost }: TokenKind,
  make: () => Promise<Row>,
  reserve = reserveFile,
): Promise<void> {
  const { out, json } = options
  if (out !== undefined) {
    const file = await reserve(out)
    const { [member]: token, ...record } = await make().catch(async (thrown: unknown) => {
      await file.discard()
      throw thrown
    })
    await file.write(`${String(token)}\n`).catch(async (thrown: unknown) => {
      await file.discard()
      throw lost(
        `The ${member} was made, but ${out} could not be written (${codeOf(thrown)}), and it is not shown again: nobody has it. ` +
          ifLost(record),
        record,
      )
    })
    return printRecord({ ...record, [`${member}_file`]: out }, options)
  }
  const { [member]: token, ...record } = await make()
  if (json) return printJson({ ...record, [member]: token })
  printRecord(record, options)
  // Last and alone on its line, so that it can be copied; it is not shown again.
  printLine(`\n${String(token)}`)
}

const lost = (error: string, made: Row) =>
  new CommandFailure(Exit.failed, error, { error, exit_code: Exit.failed, made })
