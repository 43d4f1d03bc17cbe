// The file that `--summary` names: opened before the program runs, which may put a link, a pipe or nothing in its place meanwhile.
import { constants } from 'node:fs'
import { type FileHandle, lstat, open } from 'node:fs/promises'
import { CommandFailure, Exit } from '../exit.ts'

/** Names by which a shell hands over what it has opened; all but the terminal are links. */
const HANDED_OVER = /^\/(?:dev\/(?:null|tty|stdout|stderr|fd\/\d+)|proc\/(?:self|thread-self|\d+)\/fd\/\d+)$/

export interface SummaryFile {
  /** A shell has opened it: it may be a pipe, whose reader keeps a writer waiting. */
  readonly isHandedOver: boolean
  /** Puts the text into the place of whatever is in the file. Never rejects. @returns why it is not where it was asked for, for people */
  write(text: string): Promise<string | undefined>
  close(): Promise<void>
}

/**
 * A run may take hours, and its summary is written at the end: whether that can be done is known before.
 * @throws {CommandFailure} where it cannot, and where the name is that of a link: an earlier program may have left it
 */
export async function openSummaryFile(file: string): Promise<SummaryFile> {
  const isHandedOver = HANDED_OVER.test(file)
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants
  // Without a reader, a pipe would be waited for.
  const flags = isHandedOver ? O_WRONLY | O_APPEND : O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK
  const handle = await open(file, flags, 0o600).catch(async (thrown: NodeJS.ErrnoException) => {
    // A link as well, which nobody should remove.
    if (isHandedOver) throw notWritten(file, IS_CLOSED)
    if (await isLink(file)) throw notWritten(file, IS_LINK)
    throw notWritten(file, thrown.code === 'ENXIO' ? IS_NO_FILE : NO_PLACE)
  })
  if (!isHandedOver && !(await handle.stat()).isFile()) {
    await handle.close()
    throw notWritten(file, IS_NO_FILE)
  }
  return {
    isHandedOver,
    async write(text) {
      try {
        // What was handed over may be a pipe, or hold what others said before.
        if (isHandedOver) {
          await handle.appendFile(text)
          return undefined
        }
        await handle.truncate(0)
        await writeAtStart(handle, text)
        return (await isStill(handle, file))
          ? undefined
          : `The summary is not in ${file}: the file was replaced or removed during the run.`
      } catch (thrown) {
        return `The summary could not be written to ${file} (${(thrown as NodeJS.ErrnoException).code ?? 'failed'}).`
      }
    },
    close: () => handle.close(),
  }
}

async function writeAtStart(handle: FileHandle, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  let at = 0
  while (at < bytes.length) at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten
}

/** What is opened is what others find under the name. */
async function isStill(handle: FileHandle, file: string): Promise<boolean> {
  const [own, named] = await Promise.all([
    handle.stat({ bigint: true }),
    lstat(file, { bigint: true }).catch(() => undefined),
  ])
  return named !== undefined && own.dev === named.dev && own.ino === named.ino
}

const isLink = (file: string): Promise<boolean> =>
  lstat(file).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )

const IS_LINK = 'it is a link, which a program may have put there. Name the file itself, or remove the link.'
const IS_CLOSED = 'this user may not open what is behind that name, or it is a socket. Name a file.'
const IS_NO_FILE = 'it is no file. Name one, or /dev/stdout.'
const NO_PLACE = 'name a file in a folder that exists and that this user may write to.'

const notWritten = (file: string, why: string) =>
  new CommandFailure(Exit.usage, `The summary cannot be written to ${file}: ${why} Nothing was started.`)
