// Upstreams of tests stand for servers on the internet, and listen on 127.0.0.1. What a test says of private addresses, it says
// of 127.0.0.2 and others, or with the product's own policy.
import { createAddressPolicy } from '../../src/egress/address.ts'

/** The public internet, and 127.0.0.1. */
export const LOOPBACK_IS_PUBLIC = createAddressPolicy(['127.0.0.1/32'])

/** The public internet, and all of loopback: for tests of the sender itself, which dial several addresses. */
export const LOOPBACK_NETWORK_IS_PUBLIC = createAddressPolicy(['127.0.0.0/8'])
