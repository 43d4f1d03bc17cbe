// A client that says to a proxy exactly what a test wants said: CONNECT, then TLS, then the bytes of a request.
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

export interface Answered {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** @param proxy `http://127.0.0.1:port` @param lines headers of the CONNECT */
export async function sendConnect(
  proxy: string,
  authority: string,
  lines: readonly string[] = [],
): Promise<Answered & { readonly socket: Socket }> {
  const { hostname, port } = new URL(proxy)
  const socket = connectTcp(Number(port), hostname)
  socket.on('error', () => {})
  socket.write([`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`, ...lines, '', ''].join('\r\n'))
  return { ...(await readAnswer(socket)), socket }
}

export const basic = (token: string): string =>
  `Proxy-Authorization: Basic ${Buffer.from(`agent:${token}`).toString('base64')}`

/** TLS inside the tunnel. @throws where the handshake fails */
export function startTls(
  socket: Socket,
  options: {
    readonly ca: string
    readonly servername: string
    readonly ALPNProtocols?: string[]
    readonly anyName?: boolean
  },
): Promise<TLSSocket> {
  const { anyName, ...rest } = options
  return new Promise((resolve, reject) => {
    const tls = connectTls(
      { socket, ...rest, ...(anyName && { checkServerIdentity: () => undefined }) },
      () => resolve(tls),
    )
    tls.on('error', reject)
  })
}

/** Sends the text as it is, and reads one answer. */
export async function exchange(socket: TLSSocket | Socket, text: string): Promise<Answered> {
  socket.write(text)
  return readAnswer(socket)
}

/** Reads until the announced end of the body, or the end of the connection: then with whatever came, status 0 for nothing. */
function readAnswer(socket: Socket): Promise<Answered> {
  return new Promise((resolve) => {
    let text = ''
    const done = () => {
      socket.off('data', onData).off('close', done).off('end', done)
      const [head = '', ...body] = text.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1] ?? 0), head, body: body.join('\r\n\r\n') })
    }
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return
      const [, length] = /content-length: *(\d+)/i.exec(text.slice(0, end)) ?? []
      if (
        /transfer-encoding: *chunked/i.test(text.slice(0, end))
          ? text.endsWith('0\r\n\r\n')
          : text.length >= end + 4 + Number(length ?? 0)
      )
        done()
    }
    socket.on('data', onData).on('close', done).on('end', done)
  })
}
