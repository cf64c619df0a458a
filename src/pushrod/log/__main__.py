"""The process that writes a log: started by file, apart from site-packages and the environment, and told the rest over its socket."""

import sys

if __name__ == "__main__":
    sys.path.insert(0, __file__.rsplit("pushrod", 1)[0])
    from pushrod.log.child import main

    main(int(sys.argv[1]))
