import { describe, expect, it } from 'vitest'
import { explainStartFailure, isAboutFiles } from '../../../src/cli/start-failure.ts'
import { loadConfig } from '../../../src/app/config.ts'
import { GatewayError } from '../../../src/core/errors.ts'

const config = loadConfig({ PORT: '80', GATEWAY_DATA_DIR: '/var/lib/gateway' })
const systemError = (code: string, more: object) =>
  Object.assign(new Error('words of libuv'), { code, ...more })

describe('explainStartFailure', () => {
  it.each([
    ['EADDRINUSE', { syscall: 'listen' }, 'Port 80 on localhost is taken'],
    ['EADDRINUSE', { syscall: 'listen', address: '::1' }, 'Port 80 on ::1 is taken'],
    ['EACCES', { syscall: 'listen' }, 'may not listen on port 80'],
    ['EADDRNOTAVAIL', { syscall: 'listen' }, 'HOST=localhost is not an address of this machine'],
    ['ENOTFOUND', { syscall: 'getaddrinfo' }, 'HOST=localhost is not an address'],
    ['EACCES', { syscall: 'mkdir', path: '/var/lib/gateway' }, '/var/lib/gateway may not be read or written'],
    ['EROFS', { syscall: 'open' }, '/var/lib/gateway is on a read-only file system'],
    ['EROFS', { syscall: 'open', path: '/keys/authority.jwk' }, 'this one is missing among them'],
    ['ENOSPC', { syscall: 'write' }, 'no space left'],
    ['ENOTDIR', { syscall: 'mkdir' }, 'is not a directory'],
    ['ENOENT', { syscall: 'mkdir', path: '/var/lib/gateway' }, '/var/lib/gateway does not exist'],
    ['ENOENT', { syscall: 'stat', path: '/var/lib' }, 'such as a disk that is not mounted'],
  ])('says what %s %j means and what to do', (code, more, words) => {
    const text = explainStartFailure(systemError(code, more), config)
    expect(text).toContain(words)
    expect(text).not.toContain('libuv')
    expect(text).not.toContain('\n')
  })

  it('takes a data directory that cannot be made for a matter of the configuration', () => {
    const thrown = systemError('ENOENT', { syscall: 'mkdir', path: '/var/lib/gateway' })
    expect(isAboutFiles(thrown, config)).toBe(true)
    expect(isAboutFiles(systemError('ENOENT', { path: '/opt/dist/worker.js' }), config)).toBe(false)
  })

  it("passes the gateway's own words on", () => {
    const error = new GatewayError(
      'store_unavailable',
      'PostgreSQL does not answer. Check GATEWAY_DATABASE_URL.',
    )
    expect(explainStartFailure(error, config)).toBe(error.message)
  })

  it.each([
    new Error('driver text'),
    'text',
    undefined,
    systemError('EPIPE', {}),
    systemError('ENOENT', { syscall: 'open', path: '/opt/agent-gateway/dist/worker.js' }),
    systemError('ENOENT', { syscall: 'mkdir', path: '/var/lib/gateway-of-another' }),
  ])('leaves %s to the log', (thrown) => expect(explainStartFailure(thrown, config)).toBeUndefined())
})
