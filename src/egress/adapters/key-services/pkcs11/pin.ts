// The file with the PIN. It is read for each login, so that a PIN that was changed needs no restart.
import { readFile, stat } from 'node:fs/promises'
import { isPrivateFile } from '../../../../lib/private-file.ts'
import { shellQuote } from '../../../../lib/shell-quote.ts'
import { TokenFault } from './messages.ts'

/** Of a file that somebody has to mend; another fault may be over in a moment. */
const NOT_READABLE = new Set(['ENOENT', 'EACCES', 'EPERM', 'EISDIR', 'ENOTDIR', 'ELOOP'])

/** @throws {TokenFault} */
export async function readPin(file: string): Promise<string> {
  let text: string
  try {
    if (!isPrivateFile(await stat(file)))
      throw new TokenFault('denied', `only its owner may read the PIN: chmod 600 ${shellQuote(file)}`)
    text = await readFile(file, 'utf8')
  } catch (thrown) {
    if (thrown instanceof TokenFault) throw thrown
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'a fault'
    const reason = NOT_READABLE.has(code) ? 'denied' : 'unreachable'
    throw new TokenFault(reason, `${file} cannot be read by this user (${code})`)
  }
  const pin = text.replace(/\r?\n$/, '')
  if (pin === '') throw new TokenFault('denied', `no PIN in ${file}`)
  return pin
}
