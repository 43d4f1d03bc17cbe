// Node takes its own clients through the proxy of the environment, and not a library's that made an agent for itself, as those of Stripe and AWS
// do, nor undici's own: they would go past it. What is in here is loaded before a program of Node and brings them to the proxy, too.

/**
 * CommonJS, which every Node loads by `--require`. An agent of Node that was told of a proxy keeps what it was told. Everybody else comes to
 * `tls.connect`: whoever dials there by name, to speak HTTP, gets a stream that leads through the proxy.
 */
export const NODE_AGENTS = `'use strict'
const https = require('node:https'), net = require('node:net'), tls = require('node:tls'), { Duplex } = require('node:stream')
const withEnvironment = ([options, ...rest]) => [{ proxyEnv: process.env, ...options }, ...rest]
https.Agent = new Proxy(https.Agent, {
  construct: (target, args, newTarget) => Reflect.construct(target, withEnvironment(args), newTarget),
  apply: (target, self, args) => Reflect.apply(target, self, withEnvironment(args)),
})

let proxy, direct = []
try {
  proxy = new URL(process.env.HTTPS_PROXY)
  direct = (process.env.NO_PROXY || '').split(',')
} catch {
  // Without one, or where a program may not read its environment (Deno), everybody dials as ever.
}
const dial = tls.connect
const MOST_HEAD_BYTES = 64 * 1024

function throughProxy(host, port) {
  const socket = net.connect(Number(proxy.port), proxy.hostname)
  let isOpen = false, begin
  const stream = new Duplex({
    read: () => void (isOpen && socket.resume()),
    write(piece, _encoding, done) {
      begin = () => socket.write(piece, done)
      if (isOpen) begin()
    },
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy()
      done(error)
    },
  })
  const fail = (words) => stream.destroy(Object.assign(new Error(words), { code: 'ERR_PROXY_TUNNEL' }))
  let head = Buffer.alloc(0)
  const readHead = (piece) => {
    head = Buffer.concat([head, piece])
    const end = head.indexOf('\\r\\n\\r\\n')
    if (end < 0) return head.length > MOST_HEAD_BYTES ? fail('the proxy does not answer') : undefined
    const status = head.toString('latin1', 9, 12)
    if (status !== '200') return fail('the proxy refused the connection to ' + host + ': ' + status)
    isOpen = true
    socket.off('data', readHead).on('data', (piece) => void (stream.push(piece) || socket.pause()))
    if (head.length > end + 4) stream.push(head.subarray(end + 4))
    if (begin) begin()
  }
  // What is not read yet stays, however the other side ends.
  let isOver = false
  const end = () => {
    if (!isOpen) return fail('the proxy closed the connection to ' + host)
    if (!isOver) stream.push(null)
    isOver = true
  }
  socket.on('data', readHead).on('error', (error) => stream.destroy(error)).on('end', end).on('close', end)
  const { username, password } = proxy
  const pair = Buffer.from(decodeURIComponent(username) + ':' + decodeURIComponent(password)).toString('base64')
  const to = host + ':' + port
  socket.write(['CONNECT ' + to + ' HTTP/1.1', 'Host: ' + to, ...(username ? ['Proxy-Authorization: Basic ' + pair] : []), '', ''].join('\\r\\n'))
  return { stream, socket }
}

tls.connect = function connect(...args) {
  const given = args.find((arg) => typeof arg === 'object' && arg !== null) ?? {}
  const [port, host] = typeof args[0] === 'object' ? [given.port, given.host] : [args[0], typeof args[1] === 'string' ? args[1] : given.host]
  const { ALPNProtocols: protocols } = given
  const isHttp = Array.isArray(protocols) && protocols.some((protocol) => protocol === 'http/1.1' || protocol === 'h2')
  if (!proxy || !isHttp || given.socket || given.path || !host || direct.includes(host)) return Reflect.apply(dial, this, args)
  const done = args.find((arg) => typeof arg === 'function')
  const { stream, socket } = throughProxy(host, port || 443)
  const secured = Reflect.apply(dial, this, [{ ...given, host, port, socket: stream }, ...(done ? [done] : [])])
  // A connection that is kept for later keeps no program alive.
  for (const name of ['ref', 'unref'])
    secured[name] = () => {
      socket[name]()
      return secured
    }
  return secured
}
require('node:module').syncBuiltinESMExports()
`
