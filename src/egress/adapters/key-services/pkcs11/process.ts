// The process that has the library of a token in it: machine code of somebody else, which may hang, crash or read whatever its
// process holds. The gateway's secrets are not here, but for the PIN and what the key agreed on last.
import { createRequire } from 'node:module'
import type { Pkcs11Package } from './cryptoki.ts'
import type { Answer, Request } from './messages.ts'
import { openToken, type Token, TokenFailure } from './token.ts'

let token: Token | undefined

process.on('message', (message) => {
  let answer: Answer
  try {
    answer = { ok: true, bytes: take(message as Request) }
  } catch (thrown) {
    const failure =
      thrown instanceof TokenFailure ? thrown.failure : ({ reason: 'unreachable', code: 'a fault' } as const)
    answer = { ok: false, ...failure }
  }
  process.send?.(answer, undefined, undefined, () => {})
})

function take(request: Request): Uint8Array {
  if ('open' in request) {
    token = openToken(loadPackage(), request.open, request.pin)
    return token.point
  }
  if (!token) throw new TokenFailure('unreachable', 'no token is open')
  return token.agree(Buffer.from(request.agree))
}

function loadPackage(): Pkcs11Package {
  try {
    return createRequire(import.meta.url)('pkcs11js') as Pkcs11Package
  } catch {
    throw new TokenFailure('not_installed', 'pkcs11js')
  }
}

process.on('disconnect', () => process.exit())
// A Ctrl-C in a terminal goes to every process of it: the gateway drains first, and ends this one then.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
