import { LiveCall } from '../components/home/live-call.tsx'
import { mount } from './lib/mount.ts'

mount('live-call', LiveCall)
