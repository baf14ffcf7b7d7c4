// What the command can be told.
import { StartFault } from "@parley/workspace/storage/StartFault"

export const usage = new StartFault({
  message: `Usage:
  parley keys create [--workspace NAME]              make a key and print it once
  parley keys list                                   the keys in use
  parley keys revoke ID                              a key stops working at once
  parley credit show [--workspace NAME]              what an account may spend
  parley credit add [--workspace NAME] AMOUNT        top it up; -- -AMOUNT takes back
  parley credit concurrency [--workspace NAME] N     requests at the same time; tier: by what was topped up
  parley prices list                                 what work costs
  parley prices set NAME AMOUNT                      change a price; tts:MODEL for one model only
  parley numbers list                                the inventory numbers are bought from
  parley numbers add NUMBER                          put a number up for sale, or change its trunk:
                  --allow ADDRESSES | --inbound-auth USER:PASSWORD     who may call it
                  [--trunk HOST[:PORT]] [--transport auto|udp|tcp|tls] [--auth USER:PASSWORD]   where its calls go
                  [--place "CITY, REGION"] [--original-caller]
  parley numbers remove NUMBER                       one that is not sold
  parley numbers dialling [--workspace NAME] on|off  whether a workspace may place calls
  parley sip check HOST[:PORT] | NUMBER              ask a trunk, or the trunk of a number, whether it is there
  parley sip call [--from NUMBER] URI                place a call that says a sentence, and tell how it went;
                  [--number NUMBER] URI|NUMBER       over the trunk of a number
  parley sip trace SESSION                           what the peers of a call said to each other`
})
