// Stdout, whose reader may go away and whose disk may fill up.
import { fstatSync, writeFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { CommandFailure, Exit } from './exit.ts'
import { printFailure } from './output.ts'

/** Not all of it was taken. How much of what was written before was read, nobody knows. */
export class StdoutFailure extends CommandFailure {}

/** Set by whoever writes what is of no use in part: it reports its own failure, once it has tidied up. */
let isReported = false

/** Ends the process where stdout takes no more of what a command prints. */
export function watchStdout({ json }: { readonly json: boolean }): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isReported) return
    // `agent-gateway … | head`: whoever read has seen enough.
    if (error.code === 'EPIPE') process.exit()
    const failure = inWords(error)
    printFailure(failure, json)
    process.exit(failure.exitCode)
  })
}

/**
 * Writes what is of no use in part. No faster than it is taken, so that the memory of a page is enough.
 * @throws {StdoutFailure} where its reader has gone, or there is no room
 */
export async function writeWhole(text: string | Uint8Array): Promise<void> {
  isReported = true
  const { stdout } = process
  try {
    // A disk that fills up takes the beginning of what it is given, and the stream over a file would not look how much that was.
    if (fstatSync(stdout.fd).isFile()) writeFileSync(stdout.fd, text)
    else
      await new Promise<void>((resolve, reject) => {
        stdout.write(text, (error) => (error ? reject(error) : resolve()))
      })
  } catch (thrown) {
    throw inWords(thrown as NodeJS.ErrnoException)
  }
}

/** `writeWhole` as the end of a pipeline. */
export const wholeStdout = (): Writable =>
  new Writable({
    write: (piece: Buffer, _encoding, done) => void writeWhole(piece).then(() => done(), done),
  })

const inWords = ({ code, message }: NodeJS.ErrnoException) =>
  new StdoutFailure(
    Exit.failed,
    code === 'EPIPE'
      ? 'What reads stdout went away before the end: it has only a part. Run this again, into a file or a program that reads to the end.'
      : `Stdout takes no more (${code ?? message}): what is there is only a part. Remove it, make room or name another place, and run this again.`,
  )
