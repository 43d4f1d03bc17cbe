// Node takes its own clients through the proxy of the environment, and not a library's that made an agent for itself, as those of Stripe and AWS
// do: they would go past it. What is in here is loaded before a program of Node and gives such agents the environment, too.

/** CommonJS, which every Node loads by `--require`. An agent that was told of a proxy keeps what it was told. */
export const NODE_AGENTS = `'use strict'
const https = require('node:https')
const withEnvironment = ([options, ...rest]) => [{ proxyEnv: process.env, ...options }, ...rest]
https.Agent = new Proxy(https.Agent, {
  construct: (target, args, newTarget) => Reflect.construct(target, withEnvironment(args), newTarget),
  apply: (target, self, args) => Reflect.apply(target, self, withEnvironment(args)),
})
require('node:module').syncBuiltinESMExports()
`
