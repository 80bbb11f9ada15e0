package demo

// chinese are the texts in Chinese, in the words of the articles that the pitfalls come from.
func chinese() map[string]string {
	return map[string]string{
		"demo.setnx-expire.title": "先 SETNX、再 EXPIRE：永远打不开的锁",
		"demo.setnx-expire.intro": "锁必须有过期时间，否则持有锁的客户端一旦崩溃，锁就永远不会被释放。这把锁先用 SETNX 占住 key，再用 EXPIRE " +
			"设置过期时间。两条命令各自都没错，但它们是两条命令，不具有原子性：客户端可能恰好在两者之间崩溃。",
		"demo.setnx-expire.question": "A 已经崩溃。B 现在不断地尝试加锁，等待的时间超过 A 想要的 {ttl} 秒。B 会得到什么？",
		"demo.setnx-expire.fix": "SET key 随机值 NX PX 毫秒数，用一条命令同时完成加锁和设置过期时间。Redis " +
			"执行一条命令时要么全部执行，要么不执行，所以不存在“key 已写入、却没有过期时间”的时刻。",

		"demo.delete-without-check.title": "直接 DEL：误删别人的锁",
		"demo.delete-without-check.intro": "这把锁用一条命令加锁并设置过期时间，加锁没有问题。解锁时却直接执行 DEL，不校验锁的持有者，谁的锁都删。只要大家都在过期时间之内" +
			"做完，就看不出问题。而这里 A 没有做完：它阻塞的时间超过了锁的过期时间。",
		"demo.delete-without-check.question": "A 从阻塞中恢复，并执行了解锁。B 的业务还没有做完。这时 C 来加锁。C 会得到什么？",
		"demo.delete-without-check.fix": "key 的值是只有持有者才知道的随机值，解锁用 Lua 脚本：值与自己的随机值一致，才删除 key。Redis " +
			"保证脚本的原子性，执行期间不会插入其他命令。迟到的解锁看到的是别人的随机值，什么也不会删。",

		"demo.get-del.title": "先 GET 比较、再 DEL：校验时是对的，删除时已经错了",
		"demo.get-del.intro": "这把锁吸取了上一课的教训：只有 key 的值等于自己的随机值时才删除。但校验（GET）和删除（DEL）是两条命令，不具有原子性，两者之间可以过去任意长的" +
			"时间。这里 A 的 DEL 被堵在网络上，一直堵到 A 的锁过期。",
		"demo.get-del.question": "A 的 DEL 终于到达 Redis。B 还没有解锁。这时 C 来加锁。C 会得到什么？",
		"demo.get-del.fix":      "还是同样的校验和同样的删除，但放在一个 Lua 脚本里，由 Redis 保证原子性。脚本无论到得多晚，都是在删除的那一刻才校验。",

		"demo.gc-pause.title": "阻塞超过过期时间：不知道锁已过期的持有者",
		"demo.gc-pause.intro": "过期时间一到，不管持有者有没有做完，Redis 都会把锁交给下一个来加锁的客户端。这里 A 在读数据和写数据之间阻塞了很长时间（例如 Full " +
			"GC、内存换页、虚拟机挂起）。用的就是前面几课里修好的那把锁。",
		"demo.gc-pause.question": "A 在正要写入时被阻塞，现在恢复执行。在此期间 B 已经读过并写过数据。B 的更新会怎么样？",
		"demo.gc-pause.fix": "客户端阻塞时，没有哪把锁能让它知道锁已过期。所以只能由数据自己来防守：每次加锁都得到一个只增不减的令牌（fencing " +
			"token），每次读写都带上它。共享资源记住见过的最大令牌，拒绝比它小的。",

		"demo.failover.title": "主从切换：新的 Master 从没听说过这把锁",
		"demo.failover.intro": "为了可用性，Master 挂有一个 Slave，Master 宕机时由它升主。但 Redis 的主从复制是异步的：Master 先回复 OK，之后才同步给 " +
			"Slave。这里 Master 恰好在两者之间宕机。",
		"demo.failover.question": "Slave 已经升主。A 持有锁，离过期还早。这时 B 向新的 Master 加锁。B 会得到什么？",
		"demo.failover.fix": "RedLock 向五个完全独立的 Master 加锁，在有效时间之内得到多数派同意才算成功。其中一个宕机，剩下的节点里仍有足够多的节点记得 A " +
			"的锁。",

		"demo.redlock-clock-jump.title": "RedLock 与时钟跳变：一个节点的时间走快了",
		"demo.redlock-clock-jump.intro": "RedLock 依靠多数派：五个独立的节点里有三个同意就算加锁成功，任何两个多数派至少有一个公共节点，它会拒绝后来的那个。但每个节点都按自己的系统时间判断锁是否过期。" +
			"这里 A 在 n1、n2、n3 上加锁，随后 n3 的时钟向前跳了一大步。",
		"demo.redlock-clock-jump.question": "A 持有锁，离过期还早。B 现在向五个节点加锁。B 会得到什么？",
		"demo.redlock-clock-jump.fix": "依赖各节点系统时间的锁，防不住时间出错。能防守的是共享资源：每次进入临界区时，由它自己发一个只增不减的编号（epoch），每次读写都带上，" +
			"比见过的最大编号小的一律拒绝。锁仍然会被两个客户端同时持有，但数据不会被写坏。",

		"demo.redlock-restart.title":    "RedLock 与崩溃重启：一个节点忘了它答应过谁",
		"demo.redlock-restart.intro":    "和上一课一样，A 在五个节点中的 n1、n2、n3 上加锁。这次时钟没有问题，而是 n3 崩溃后马上重启。它没有持久化，重启后是空的。",
		"demo.redlock-restart.question": "A 持有锁，离过期还早。B 现在向五个节点加锁。B 会得到什么？",
		"demo.redlock-restart.fix": "节点不能忘记它答应过的锁。这里 n3 开启 AOF 并设为 appendfsync always：写入磁盘之后才回复，所以重启后 A 的 key " +
			"还在。另一种办法是延迟重启：节点崩溃后，等所有可能已经授出的锁都过期了再上线（lockbench run --scenario redlock-restart --lock " +
			"redlock --remedy restart-delayed）。",

		"demo.rw-timestamp.title": "读写锁的时间戳：后来的读者盖掉了先来的读者",
		"demo.rw-timestamp.intro": "这把读写锁是一个 hash，只有 read 和 write 两个字段，值是客户端的毫秒级时间戳。读锁可以由多个读者共享，但它们共用同一个 read " +
			"字段。解锁时比较时间戳，与自己的一致才删除该字段。这里没有任何故障，只有两个读者和一个写者。",
		"demo.rw-timestamp.question": "A 还在读，B 已经读完并释放了读锁。写者 C 现在来加写锁。C 会得到什么？",
		"demo.rw-timestamp.fix": "给每个持有者一条自己的记录：一个 sorted set，成员是各持有者的唯一标识，分数是它的过期时刻，由脚本按服务器的时间计算。每个持有者只删除自己的" +
			"那一条，还有任何一个读者在，写者就进不来。",

		"list.head": "演示列表，按教学顺序：",
		"list.how": "lockbench demo 名称 --lang zh 讲解其中一个：先一步步演示有缺陷的锁，说明它破坏了什么、为什么，再用同样的步骤演示修复后的锁。--pause " +
			"在每一步之后等待按键。",

		"head.about":       "lockbench demo {demo} · {id} {scenario} · {backend} · 种子 {seed}",
		"backend.embedded": "进程内服务器，虚拟时间",
		"backend.process":  "真实的 redis-server 进程",
		"backend.docker":   "容器里的真实 redis-server",
		"head.how": "每一步这样读：先是客户端发出的命令和得到的回复，再是这一步之后 Redis 里锁的 key（{key}）的内容，最后是每个客户端各自认为的情况。" +
			"这些都是真实的锁运行时记录下来的。时间从开始时算起，以秒为单位；锁的过期时间是 {ttl} 秒。“共享资源”代表锁所保护的数据：持有锁的客户端读出它，加一，再写回去。",
		"head.embedded": "服务器在本进程内、在虚拟时间里运行，主从复制、时钟和阻塞都是模拟的；加上 --backend process，则在真实的 redis-server 上执行同样的步骤。",

		"part.broken":     "有缺陷的锁：{lock}",
		"part.fixed":      "修复之后，同样的步骤：{lock}",
		"part.guarded":    "{lock}，guard {guard}",
		"part.remedied":   "{lock}，服务器采用 {remedy}",
		"part.commands":   "{commands}。",
		"part.by":         "加锁：{acquire}。解锁：{release}。",
		"guard.fence":     "每次读写共享资源，都带上锁的令牌。",
		"guard.epoch":     "每次读写共享资源，都带上进入临界区时由共享资源自己发的编号。",
		"simulated":       "（模拟）",
		"step.idle":       "{client} 没有持有锁，这一步什么也不做。",
		"comma":           "、",
		"row.redis":       "Redis 中",
		"row.register":    "共享资源",
		"row.believes":    "{client} 认为",
		"sent.went-on":    "{command}  （一直被堵到现在）=> {reply}",
		"sent.held":       "{command}  …… 被堵在去 Redis 的路上",
		"sent.reply-held": "{command}  …… 已执行，但回复被堵在路上",
		"sent.reply-lost": "{command}  …… 回复永远不会到了",
		"sent.waiting":    "{command}  …… 还没有回复",
		"sent.times":      "  （共 {times} 次，每次用新的随机值，直到 {until}）",
		"sent.noscript":   "这台服务器还没有该脚本，客户端接着发送完整的脚本",
		"question":        "想一想：{question}",

		"register.read":      "{client} 读到 {value}（版本 {version}）",
		"register.changed":   "{client} 读到 {value}（版本 {version}），但它先前读到的是版本 {seen}：数据在它持有锁时被别人改了",
		"register.write":     "{client} 写入 {value}，覆盖的正是它读过的版本 {version}",
		"register.overwrite": "{client} 写入 {value}，覆盖了版本 {version}，但它读过的是版本 {seen}：这期间写入的更新丢失了",
		"register.refused":   "{client} 被拒绝：{why}",
		"register.stale":     "{client} 被拒绝：它的令牌小于共享资源见过的最大令牌",

		"holds.nothing":  "空",
		"holds.dead":     "已宕机",
		"holds.silent":   "没有响应",
		"holds.promoted": "{node}（已升主）",
		"holds.whose":    "{value}（{client} 的）",
		"holds.ttl":      "，{ttl} 秒后过期",
		"holds.forever":  "，没有过期时间：永远不会消失",

		"believes.asks":               "还不知道结果：已请求加锁，没有得到回复",
		"believes.holds":              "自己持有锁，到 {until} 过期",
		"believes.holds-reading":      "自己持有读锁，到 {until} 过期",
		"believes.holds-open":         "自己持有锁",
		"believes.holds-open-reading": "自己持有读锁",
		"believes.overdue":            "自己持有锁，其实锁在 {until} 已经过期",
		"believes.overdue-reading":    "自己持有读锁，其实锁在 {until} 已经过期",
		"believes.refused":            "锁在别人手里：加锁失败",
		"believes.unsure":             "无从得知：永远不会知道加锁是否成功",
		"believes.returns":            "自己正在解锁，等待回复",
		"believes.returned":           "自己已经解锁",
		"believes.robbed":             "锁已经丢了：解锁时发现锁不再是自己的",
		"believes.doubts":             "无从得知：永远不会知道解锁是否成功",
		"believes.dead":               "（已经崩溃）",
		"believes.still":              "（正在阻塞）",

		"alarm.both":             "{first} 和 {second} 都认为自己持有锁",
		"alarm.both-after-lease": "{first} 和 {second} 都认为自己持有锁，虽然 {first} 的锁在 {ended} 已经过期",
		"alarm.broken":           "被破坏：{properties}",
		"after.granted":          "最后，能恢复的故障都已恢复，还持有锁的都已解锁。没有参与的 {client} 来加锁，成功。",
		"after.refused":          "最后，能恢复的故障都已恢复，还持有锁的都已解锁。没有参与的 {client} 来加锁，到 {until} 为止共 {times} 次，全部失败。",

		"verdict.head":               "对 {lock} 的判定，依据是记录下来的调用；数字是作为证据的步骤：",
		"verdict.end":                "最后",
		"verdict.clean":              "没有破坏任何性质。",
		"verdict.pass":               "保持：{properties}",
		"verdict.unknown":            "没有检验到：{properties}",
		"verdict.unexpected-outcome": "这与陷阱目录对这把锁的预期不符。",
		"verdict.unknown-outcome":    "这次运行什么也证明不了：陷阱目录要求的判定没有得出。",
		"why.head":                   "原因：",
		"fix.head":                   "修复：",
		"end.again":                  "完整的判定：",
		"end.next":                   "下一个演示：",
		"pause.prompt":               "[任意键：继续 · q：退出]",

		"property.mutual-exclusion":              "互斥性",
		"property.lease-exclusion":               "有效期内的互斥性",
		"property.lease-honoured":                "有效期得到遵守",
		"property.ownership":                     "对称性",
		"property.truthful-replies":              "回复属实",
		"property.resource-safety":               "资源安全",
		"property.fencing":                       "令牌递增",
		"property.deadlock-freedom":              "安全性（不死锁）",
		"property.availability":                  "可用性",
		"property.fairness":                      "公平性",
		"means.mutual-exclusion":                 "两个客户端同时认为自己持有锁，不论锁是否过期",
		"means.lease-exclusion":                  "两个客户端同时认为自己持有锁，而且都没有过期",
		"means.lease-honoured":                   "持有者的锁还没过期，就被交给了别人",
		"means.ownership":                        "一个客户端解掉了别的客户端加的锁",
		"means.truthful-replies":                 "客户端得到的回复与事实不符",
		"means.resource-safety":                  "更新丢失，或者数据在持有锁期间被别人改动",
		"means.fencing":                          "令牌没有递增",
		"means.deadlock-freedom":                 "没有人持有锁，锁却一直加不上",
		"means.availability":                     "没有人持有锁，加锁却被拒绝",
		"means.fairness":                         "等待者被后来者反复超过",
		"script":                                 "‹{name}›：{does}",
		"script.compare-and-delete":              "key 的值等于我的随机值才删除；删了返回 1，否则返回 0",
		"script.fenced-acquire":                  "key 不存在时，令牌加一，写入 key 并设置过期时间；返回令牌",
		"script.register-read":                   "参数：令牌（0 表示没有）；返回值和版本",
		"script.register-write":                  "参数：令牌（0 表示没有）和新值；返回值和被覆盖的版本",
		"script.register-enter":                  "发一个新的编号；返回值、版本和编号",
		"script.rw-hash-read":                    "没有写者时，加入我的读者记录；成功返回 1",
		"script.rw-hash-write":                   "没有任何持有者时，加入我的写者记录；有读者时留下写者意向，不让新的读者进来；加入成功返回 1",
		"script.rw-hash-release":                 "只删除我自己的记录；返回删除的个数",
		"script.rw-hash-timestamp-read":          "没有未过期的写时间戳时，把 read 设为我的时间戳；成功返回 1",
		"script.rw-hash-timestamp-write":         "没有未过期的读、写时间戳时，把 write 设为我的时间戳；成功返回 1",
		"script.rw-hash-timestamp-read-release":  "read 等于我的时间戳才删除；不返回结果",
		"script.rw-hash-timestamp-write-release": "write 等于我的时间戳才删除；不返回结果",
	}
}

// chineseOfOthers are what scenarios, locks and steps say in English, in Chinese. Whoever
// changes the English there changes it here: a test finds what has no Chinese any more.
func chineseOfOthers() map[string]string {
	return map[string]string{
		"{client} tries to acquire the lock":                                     "{client} 尝试加锁",
		"{client} tries to acquire the lock as a reader":                         "{client} 尝试加读锁",
		"{client} tries to acquire the lock, again if the connection had broken": "{client} 尝试加锁，连接断开过就再试一次",
		"{client} waits for the lock":                                            "{client} 轮询，等待加锁",
		"{client} sends the first command of its acquire; the reply is held up":  "{client} 发出加锁的第一条命令；回复被堵在路上",
		"{client} reads the register":                                            "{client} 读共享资源",
		"{client} writes the register":                                           "{client} 写共享资源",
		"{client} was about to write the register":                               "{client} 正要写共享资源",
		"{client} releases":                                                      "{client} 解锁",
		"{client} releases; the command that deletes the key is held up":         "{client} 解锁；删除 key 的命令被堵在路上",
		"the held command of {client} goes on":                                   "{client} 被堵住的命令到达 Redis",
		"{client} crashes":                                                       "{client} 崩溃",
		"{client} stands still":                                                  "{client} 阻塞",
		"{client} goes on":                                                       "{client} 恢复执行",
		"{client} is cut off from servers 4, 5":                                  "{client} 与 n4、n5 断开",
		"{client} reaches all servers again":                                     "{client} 与所有节点恢复连接",
		"the lease ends":                                                         "锁过期",
		"the replica is in sync":                                                 "Slave 已与 Master 同步",
		"the link from the master to its replica is cut":                         "Master 到 Slave 的复制连接断开",
		"the master dies":                                                        "Master 宕机",
		"the replica is promoted":                                                "Slave 升主",
		"the clock of server 3 jumps by 2 TTLs":                                  "n3 的时钟向前跳变两个过期时间",
		"server 3 dies, and comes back empty":                                    "n3 崩溃后重启，数据全部丢失",
		"server 3 dies, and comes back with its append-only file":                "n3 崩溃后重启，从 AOF 恢复数据",

		"SETNX, then EXPIRE; DEL":                                                     "先 SETNX，再 EXPIRE; DEL",
		"SET NX PX; unconditional DEL":                                                "SET NX PX; 直接 DEL",
		"SET NX PX; GET, compare, DEL":                                                "SET NX PX; GET，比较，DEL",
		"SET NX PX; compare-and-delete script":                                        "SET NX PX; 先比较再删除的 Lua 脚本",
		"setnx-px-lua with fencing tokens":                                            "带令牌（fencing token）的 setnx-px-lua",
		"Redlock: a majority of independent masters":                                  "RedLock：在过半数的独立 Master 上加锁",
		"a hash with client times of a reader and a writer; HDEL if equal":            "在 hash 里写入客户端的读、写时间戳; 时间戳一致才 HDEL",
		"a deadline per holder by the server's clock, writer intent; ZREM of the own": "按服务器时间为每个持有者记录过期时刻，并记录写者意向; ZREM 自己的记录",

		"The lock is taken and given its TTL by two commands. The client died between them, so the key has no TTL and no owner: no waiting helps, " +
			"somebody has to delete it by hand.": "加锁和设置过期时间是两条命令，客户端在两者之间崩溃了，于是 key 没有过期时间，也没有持有者：等多久都没有用，只能人工删除。这就是死锁。",
		"Release is a bare DEL: it deletes whatever is under the key, whoever put it there. A came back after its lease had ended and deleted B's " +
			"lock, so C got in beside B.": "解锁只是一条 DEL，不管 key 是谁写的都删除。A 恢复时自己的锁已经过期，于是误删了 B 的锁，C 就和 B 同时进来了。",
		"Release checks the token with GET and deletes with DEL, and between the two anything may happen. A's lease ended there and B took the lock; " +
			"A's DEL, sent for its own lock, removed B's.": "解锁先用 GET 校验，再用 DEL 删除，两者之间什么都可能发生。A 的锁恰好在这时过期，B 加锁成功；A 的 DEL " +
			"本来是要删自己的锁，结果误删了 B 的锁。",
		"A stood still (garbage collection, a swapped-out page, a paused VM) and did not notice that its lease had ended. B worked under the lock; " +
			"then A went on where it had stopped and overwrote what B wrote.": "A 阻塞了（Full GC、内存换页、虚拟机挂起），没有发觉自己的锁已经过期。B 加锁后完成了工作；随后 A " +
			"从停下的地方继续执行，覆盖了 B 的写入，互斥性失效。",
		"Redis replicates asynchronously. A's SET was acknowledged before any replica had it, so the promoted replica had never heard of A.": "Redis " +
			"的主从复制是异步的。A 的 SET 得到确认时，还没有任何 Slave 收到它，所以升主的 Slave 根本不知道 A 持有锁。",
		"A held n1, n2 and n3, a majority. The clock of n3 jumped forward and A's key expired there long before its time, so that n3 was free for B: " +
			"with n4 and n5 that is a majority too. Redlock needs servers whose clocks run alike.": "A 锁住了 n1、n2、n3，是多数派。n3 的时钟向前跳变，A 的 key " +
			"在那里提前过期，n3 又可以被 B 锁住：加上 n4、n5，也是多数派。RedLock 要求各节点的时钟走得一致。",
		"A held n1, n2 and n3, a majority. n3 died and came back empty, so that it was free for B: with n4 and n5 that is a majority too. A server " +
			"that forgets must stay away until all that it may have granted is over, or keep it on its disk.": "A 锁住了 n1、n2、n3，是多数派。n3 崩溃重启后是空的，又可以被 B 锁住：加上 " +
			"n4、n5，也是多数派。会忘记的节点，必须等它可能授出的锁全部过期之后再上线，或者把锁持久化到磁盘。",
		"The hash has one field for all readers, which holds the time of the last one. B came after A and overwrote A's time; when B released, the " +
			"field was its own and went, and a writer came in while A was still reading.": "hash 里所有读者共用一个字段，里面只有最后一个读者的时间戳。B 在 A 之后到来，覆盖了 A 的时间戳；B " +
			"解锁时字段里正是自己的时间戳，于是删除了它，结果 A 还在读，写者就进来了。",

		"Every lease lets B in while A stands still and has not released, so strictly two held the lock. What the compare-and-delete keeps is B's lock: " +
			"A's late release was refused, and C did not get in.": "只要有过期时间，A 阻塞、还没有解锁时 B 就能进来，所以严格地说有两个客户端同时持有过锁。先比较再删除保住的是 B 的锁：A " +
			"迟到的解锁被拒绝，C 没有进来。",
		"No lease survives a holder that stands still: strictly, two held the lock. What the fence saves is the resource: it had seen B's token and refused " +
			"A's write with the lower one.": "持有者一旦阻塞，任何有过期时间的锁都防不住：严格地说有两个客户端同时持有过锁。令牌保住的是共享资源：它见过 B 的令牌，拒绝了 A 带着较小令牌的写入。",
		"Two held the lock. What the epoch saves is the resource: it had let B's section begin and refused A's write.": "两个客户端同时持有过锁。编号保住的是共享资源：它已经让 B " +
			"进入临界区，于是拒绝了 A 的写入。",
		"n3 came back with A's key, and B got no majority.": "n3 重启后 A 的 key 还在，B 没有得到多数派。",
	}
}
