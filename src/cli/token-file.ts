// Tokens that are shown once: to stdout, or into a new file that only its owner reads.
import { type FileHandle, open, rm } from 'node:fs/promises'
import type { Command } from 'commander'
import { CommandFailure, Exit } from './exit.ts'
import { printJson, printLine, printRecord, type Row } from './output.ts'

/** Adds `--out`, which `deliverToken` obeys. */
export const addOutOption = (command: Command): Command =>
  command.option('--out <file>', 'put the token into this new file (0600) instead of printing it')

/**
 * @param member of the answer that holds the token
 * @param make asks the gateway; not called when the file cannot be made, so that no token is lost
 */
export async function deliverToken(
  options: { readonly out?: string; readonly json?: boolean },
  member: string,
  make: () => Promise<Row>,
): Promise<void> {
  const { out, json } = options
  const file = out === undefined ? undefined : await openNew(out)
  if (out === undefined || file === undefined) {
    const { [member]: token, ...record } = await make()
    if (json) return printJson({ ...record, [member]: token })
    printRecord(record, options)
    // Last and alone on its line, so that it can be copied; it is not shown again.
    return printLine(`\n${String(token)}`)
  }
  try {
    const { [member]: token, ...record } = await make()
    await file.writeFile(`${String(token)}\n`)
    printRecord({ ...record, [`${member}_file`]: out }, options)
  } catch (thrown) {
    await rm(out, { force: true })
    throw thrown
  } finally {
    await file.close()
  }
}

/** `wx` never follows or overwrites what is there. */
async function openNew(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', 0o600)
  } catch (thrown) {
    const exists = thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST'
    throw new CommandFailure(
      Exit.failed,
      exists ? `${file} exists already: name a new file.` : `${file} cannot be written by this user.`,
    )
  }
}
