// The form of /verify.
import { Verifier } from '../components/proof/verifier.tsx'
import { mount } from './lib/mount.ts'

mount('verifier', Verifier)
